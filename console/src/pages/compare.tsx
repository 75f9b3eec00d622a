import { useTitle } from "../shell";

export default function Compare() {
  useTitle("Compare");
  return <h1>Compare</h1>;
}
