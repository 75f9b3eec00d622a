/** Which page is shown at which address. Each comes when it is asked for. */

import { Component, type ComponentType, type ReactNode, useEffect } from "react";
import { Route, Switch, useLocation } from "wouter";
import { fetched } from "./fetched";
import Recordings from "./pages/recordings";
import { Shell, useTitle } from "./shell";
import { Failure, Nothing, Reading } from "./ui";

const Login = fetched(() => import("./login"));

/** A page with its heading until its module is there. */
function page(load: () => Promise<{ default: ComponentType }>, title: string): ComponentType {
  return fetched(load, <Reading title={title} />);
}

/** The pages, by address. A page is the default export of its module. */
const PAGES: [string, ComponentType][] = [
  ["/", Recordings],

  ["/r/:id/:step?", page(() => import("./pages/recording"), "Recording")],
  ["/r/:id/session/:number", page(() => import("./pages/session"), "Session")],

  ["/compare/:a?/:b?", page(() => import("./pages/compare"), "Compare")],
  ["/debug/:id", page(() => import("./pages/debug"), "Debug")],

  ["/trends", page(() => import("./pages/trends"), "Trends")],

  ["/jobs/:id?", page(() => import("./pages/jobs"), "Jobs")],

  ["/heals/:id?", page(() => import("./pages/heals"), "Heals")],
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
  if (at === "/login") return <Login />;
  return (
    <Shell>
      <Whole key={at.split("/").slice(0, 3).join("/")}>
        <Switch>
          {PAGES.map(([address, Page]) => (
            <Route key={address} path={address}>
              <Page />
            </Route>
          ))}
          <Route>
            <Lost />
          </Route>
        </Switch>
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
