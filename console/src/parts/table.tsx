/** A table, as jobs and heals have them: its heads, and rows that whoever uses it writes. */

import type { ReactNode } from "react";

export function Table({ heads, children }: { heads: string[]; children: ReactNode }) {
  return (
    <table className="matrix">
      <thead>
        <tr>
          {heads.map((head) => (
            <th key={head} scope="col">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}
