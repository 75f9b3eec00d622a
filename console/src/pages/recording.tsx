import { useTitle } from "../shell";

export default function Recording() {
  useTitle("Recording");
  return <h1>Recording</h1>;
}
