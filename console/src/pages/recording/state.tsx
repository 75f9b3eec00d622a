/** The agent's state when a step was asked, and what differs from the step before. */

import type { StepWhole } from "../../model";
import { compared, WordChanges } from "../../text";
import { Value } from "../../tree";
import { Part } from "./panel";

export function State({ whole }: { whole: StepWhole }) {
  const values = Object.entries(whole.state);
  if (values.length === 0) {
    return (
      <p className="quiet nothing-here">
        Nothing is tracked. <code>reenact.track(name, value)</code> tells the recorder which values are the
        agent's state.
      </p>
    );
  }
  return (
    <>
      {whole.state_changes.length > 0 && (
        <Part title={`Changed since the step before: ${whole.state_changes.length}`}>
          {whole.state_changes.map((change) => (
            <div key={change.path} className="change">
              <code className="recorded">{change.path}</code>
              {typeof change.before === "string" && typeof change.after === "string" ? (
                <WordChanges words={compared(change.before, change.after)} />
              ) : (
                <div className="sides">
                  {"before" in change && (
                    <div className="removed">
                      <Value value={change.before} />
                    </div>
                  )}
                  {"after" in change && (
                    <div className="added">
                      <Value value={change.after} />
                    </div>
                  )}
                </div>
              )}
            </div>
          ))}
        </Part>
      )}
      {values.map(([name, value]) => (
        <Part key={name} title={value.exact ? name : `${name} · ${value.why}`}>
          <Value value={value.value} />
        </Part>
      ))}
    </>
  );
}
