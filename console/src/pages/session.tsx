import { useTitle } from "../shell";

export default function Session() {
  useTitle("Session");
  return <h1>Session</h1>;
}
