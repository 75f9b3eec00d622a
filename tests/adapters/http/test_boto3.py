"""AWS's SDK, through urllib3: its connection classes of its own, its signatures that change by the second."""

import pytest

boto3 = pytest.importorskip("boto3", reason="boto3 is not installed")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_bedrock_replays_though_every_signature_differs(bench):
    from botocore.config import Config

    def program():
        client = boto3.client(
            "s3",
            endpoint_url=bench.server.url,
            region_name="us-east-1",
            aws_access_key_id="AKIAIOSFODNN7EXAMPLE",
            aws_secret_access_key="wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            config=Config(retries={"max_attempts": 1}, s3={"addressing_style": "path"}),
        )
        answer = client.get_object(Bucket="json", Key="a")
        body = answer["Body"].read()
        client.close()
        return body, answer["ResponseMetadata"]["HTTPStatusCode"]

    live = bench.record(program)
    assert (
        bench.replay(program, ignore=["args.headers.x-amz-date", "args.headers.amz-sdk-invocation-id"])
        == live
    )
    assert b"wJalrXUtnFEMI" not in bench.on_disk
