/** The headings of the list: a click sorts by a column, another one reverses the order. */

/** Each column: its title, its class, and its order as the server names it; texts begin at A. */
const COLUMNS = [
  { title: "Status", className: "state", order: "-status" },
  { title: "Agent", className: "agent", order: "-agent" },
  { title: "Prompt", className: "prompt", order: "-prompt" },
  { title: "Outcome", className: "outcome", order: "-outcome" },
  { title: "Model", className: "model", order: "-model" },
  { title: "Steps", className: "number steps", order: "steps" },
  { title: "Tokens", className: "number tokens", order: "tokens" },
  { title: "Cost", className: "number cost", order: "cost" },
  { title: "Time", className: "number took", order: "duration" },
  { title: "When", className: "number when", order: "started" },
] as const;

/** The same on a narrow screen, which has no columns: one choice. */
export function SortChoice({ sort, sortBy }: { sort: string; sortBy: (order: string) => void }) {
  return (
    <select
      className="field sort"
      aria-label="Sort by"
      value={sort}
      onChange={(event) => sortBy(event.target.value)}
    >
      {COLUMNS.flatMap(({ title, order }) =>
        [order, order.startsWith("-") ? order.slice(1) : `-${order}`].map((each) => (
          <option key={each} value={each}>
            {title} {each.startsWith("-") ? "▲" : "▼"}
          </option>
        )),
      )}
    </select>
  );
}

export function Headings({ sort, sortBy }: { sort: string; sortBy: (order: string) => void }) {
  return (
    <div role="rowgroup" className="headings">
      <div role="row" className="heading" aria-rowindex={1}>
        <div role="columnheader" className="pick">
          <span className="unseen">Choose</span>
        </div>
        {COLUMNS.map(({ title, className, order }) => {
          const here = sort.replace("-", "") === order.replace("-", "");
          const up = sort.startsWith("-");
          return (
            <div
              key={title}
              role="columnheader"
              className={className}
              aria-sort={here ? (up ? "ascending" : "descending") : "none"}
            >
              <button type="button" title={`Sort by ${title.toLowerCase()}`} onClick={() => sortBy(order)}>
                {title}
                <span aria-hidden className="arrow">
                  {here ? (up ? "▲" : "▼") : ""}
                </span>
              </button>
            </div>
          );
        })}
      </div>
    </div>
  );
}
