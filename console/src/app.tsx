/** Which page is shown at which address. Each comes when it is asked for. */

import { Component, type ComponentType, lazy, type ReactNode, Suspense, useEffect } from "react";
import { Route, Switch, useLocation } from "wouter";
import Recordings from "./pages/recordings";
import { Shell, useTitle } from "./shell";
import { Failure, Nothing } from "./ui";

const Login = lazy(() => import("./login"));

/** The pages, by address. A page is the default export of its module; `:words` are in useParams(). */
const PAGES: [string, ComponentType][] = [
  ["/", Recordings],

  ["/r/:id/:step?", lazy(() => import("./pages/recording"))],
  ["/r/:id/session/:number", lazy(() => import("./pages/session"))],

  ["/compare/:a?/:b?", lazy(() => import("./pages/compare"))],
  ["/debug/:id", lazy(() => import("./pages/debug"))],

  ["/trends", lazy(() => import("./pages/trends"))],

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
      <Whole key={at.split("/").slice(0, 3).join("/")}>
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
      </Whole>
    </Shell>
  );
}

/** A page that breaks says so in its place; all else goes on. */
class Whole extends Component<{ children: ReactNode }, { error: unknown }> {
  override state = { error: null as unknown };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    if (this.state.error === null) return this.props.children;
    return (
      <Nothing title="This page failed">
        <Failure error={this.state.error} />
        <p>This is a defect of the console. Load this page again, or open another one.</p>
      </Nothing>
    );
  }
}

function Lost() {
  useTitle("Not found");
  return (
    <Nothing title="This page does not exist">
      <p>
        <a href="/">All recordings</a>
      </p>
    </Nothing>
  );
}
