"""The rules for secrets besides the built-in shapes."""

from __future__ import annotations

from reenact.core.dataclass import dataclass


def word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


@dataclass(frozen=True, slots=True)
class SecretRules:
    """The rules for secrets besides the built-in shapes; extend with `dataclasses.replace`.

    `names` are key names in JSON, forms, queries and environments ("api_key" also means "API-Key", "apiKey"
    and "openai_api_key"); `headers` are HTTP headers whose values are always replaced; `patterns` are regular
    expressions over bytes (where one has a group, the first group is the secret); `values` are known
    exactly.
    """

    names: frozenset[str]
    headers: frozenset[str]
    patterns: tuple[str, ...] = ()
    values: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        """Return one short line, with the number of `values` only, as they are secrets."""
        if self == DEFAULT_RULES:
            return "DEFAULT_RULES"
        counts = {name: len(getattr(self, name)) for name in ("names", "headers", "patterns", "values")}
        return f"<SecretRules: {', '.join(f'{count} {name}' for name, count in counts.items())}>"


DEFAULT_RULES = SecretRules(
    names=word_set(
        "password passwd passphrase passcode pass pwd secret client_secret secret_key private_key api_key "
        "api_secret access_key account_key signing_key encryption_key master_key shared_access_key "
        "secret_key_base license_key subscription_key access_token refresh_token id_token auth_token session_token "
        "bearer_token api_token csrf_token xsrf_token security_token secret_token token auth "
        "authorization credential credentials session cookie set_cookie connection_string pin cvv cvc otp "
        "pgpassword totp otp_code mfa_code totp_code two_factor_code one_time_code one_time_password verification_code "
        "recovery_code recovery_key recovery_phrase backup_code security_code security_answer secret_answer "
        "seed_phrase mnemonic_phrase ssn social_security_number "
        "identity_token registry_token client_key_data psk pre_shared_key"
    ),
    headers=word_set(
        "authorization proxy-authorization cookie set-cookie x-api-key api-key apikey x-goog-api-key "
        "x-amz-security-token x-auth-token x-access-token x-csrf-token x-xsrf-token private-token "
        "x-gitlab-token x-vault-token x-shopify-access-token x-functions-key ocp-apim-subscription-key "
        "x-rapidapi-key x-subscription-token x-auth-key x-session-token x-amz-signature"
    ),
)
