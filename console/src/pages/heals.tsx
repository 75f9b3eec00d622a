import { useTitle } from "../shell";

export default function Heals() {
  useTitle("Heals");
  return <h1>Heals</h1>;
}
