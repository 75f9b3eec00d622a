import "./theme.css";
import "./recorded.css";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createRoot } from "react-dom/client";
import { App } from "./app";
import { Refused } from "./client";
import { connect, feed } from "./live";

const cache = new QueryClient({
  defaultOptions: {
    queries: {
      // What changes is told by the live connection.
      staleTime: 60_000,
      refetchOnWindowFocus: false,
      // A refusal stays one; a server that is restarted is asked again.
      retry: (failures, error) =>
        failures < 3 && error instanceof Refused && (error.status === 0 || error.status > 501),
    },
  },
});
feed(cache);
connect();

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <QueryClientProvider client={cache}>
      <App />
    </QueryClientProvider>,
  );
}
