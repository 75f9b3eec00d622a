/** Which page is shown at which address. Each comes when it is asked for. */

import { type ComponentType, lazy, Suspense, useEffect } from "react";
import { Route, Switch, useLocation } from "wouter";
import Recordings from "./pages/recordings";
import { Shell, useTitle } from "./shell";
import { Nothing } from "./ui";

const Login = lazy(() => import("./login"));

/** The pages, by address. A page is the default export of its module; `:words` are in useParams(). */
const PAGES: [string, ComponentType][] = [
  ["/", Recordings],

  ["/r/:id/:step?", lazy(() => import("./pages/recording"))],
  ["/r/:id/session/:number", lazy(() => import("./pages/session"))],

  ["/compare/:a?/:b?", lazy(() => import("./pages/compare"))],
  ["/debug/:id", lazy(() => import("./pages/debug"))],

  ["/jobs/:id?", lazy(() => import("./pages/jobs"))],

  ["/heals/:id?", lazy(() => import("./pages/heals"))],
];

export function App() {
  const [at, go] = useLocation();
  useEffect(() => {
    const needed = () => {
      if (window.location.pathname === "/login") return;
      const from = window.location.pathname + window.location.search;
      go(`/login?to=${encodeURIComponent(from)}`, { replace: true });
    };
    window.addEventListener("reenact:key-needed", needed);
    return () => window.removeEventListener("reenact:key-needed", needed);
  }, [go]);
  if (at === "/login") {
    return (
      <Suspense>
        <Login />
      </Suspense>
    );
  }
  return (
    <Shell>
      <Suspense fallback={null}>
        <Switch>
          {PAGES.map(([address, page]) => (
            <Route key={address} path={address} component={page} />
          ))}
          <Route>
            <Lost />
          </Route>
        </Switch>
      </Suspense>
    </Shell>
  );
}

function Lost() {
  useTitle("Not here");
  return (
    <Nothing title="There is no page here">
      <p>
        <a href="/">All recordings</a>
      </p>
    </Nothing>
  );
}
