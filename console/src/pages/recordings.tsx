import { useTitle } from "../shell";

export default function Recordings() {
  useTitle("Recordings");
  return <h1>Recordings</h1>;
}
