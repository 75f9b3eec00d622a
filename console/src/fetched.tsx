/** Components whose modules are fetched when they are first shown. */

import { type ComponentType, type ReactNode, useEffect, useState } from "react";

/**
 * The default export of a module, as a component; until the module is there, `waiting` stands in its place.
 *
 * React's `lazy` in a `Suspense` shows a component 300 ms after what stands in its place at the earliest, however soon
 * its module is there.
 */
export function fetched<P extends object>(
  load: () => Promise<{ default: ComponentType<P> }>,
  waiting: ReactNode = null,
): ComponentType<P> {
  let known: ComponentType<P> | null = null;
  return function Fetched(props: P) {
    const [Found, put] = useState(() => known);
    useEffect(() => {
      if (Found) return;
      let left = false;
      load().then(
        (module) => {
          known = module.default;
          if (!left) put(() => known);
        },
        // What is thrown while a state is made fails the page in its place.
        (error: unknown) =>
          left ||
          put(() => {
            throw error;
          }),
      );
      return () => {
        left = true;
      };
    }, [Found]);
    return Found ? <Found {...props} /> : waiting;
  };
}
