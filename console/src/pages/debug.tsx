import { useTitle } from "../shell";

export default function Debug() {
  useTitle("Debug");
  return <h1>Debug</h1>;
}
