import { useTitle } from "../shell";

export default function Jobs() {
  useTitle("Jobs");
  return <h1>Jobs</h1>;
}
