/** A dialog that lists ways to work on a recording, each with a button, a command to copy, or both. */

import type { ReactNode } from "react";
import { Command, Dialog } from "../ui";

export interface Way {
  about: string;
  here?: ReactNode;
  command: string;
}

export function Ways({ title, ways, close }: { title: string; ways: Way[]; close: () => void }) {
  return (
    <Dialog title={title} close={close} className="ways-dialog">
      <h2>{title}</h2>
      <dl>
        {ways.map(({ about, here, command }) => (
          <div key={command}>
            <dt>{about}</dt>
            <dd>
              {here}
              <Command text={command} />
            </dd>
          </div>
        ))}
      </dl>
      <button type="button" className="button" onClick={close}>
        Close
      </button>
    </Dialog>
  );
}
