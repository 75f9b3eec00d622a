/** Take a recording away: as one page for any browser, or as the file that commands and the viewer read. */

import { useState } from "react";
import { get, path, Refused } from "../../client";
import type { Whole } from "../../model";
import { useBegin } from "../../parts/jobs";
import { Ways } from "../../parts/ways";
import type { operations } from "../../schema";
import { complain } from "../../toasts";

type Exported =
  operations["export_api_v1_recordings__id__export_get"]["responses"]["200"]["content"]["application/json"];

/** Milliseconds until a large recording, which the server still packs, is asked for again. */
const AGAIN = 1000;

/** The address of the file, as soon as the server has packed it. Throws Refused. */
async function packed(id: string): Promise<Exported> {
  for (;;) {
    try {
      return await get<Exported>(path("recordings", id, "export"));
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 503) throw error;
      await new Promise((resolve) => setTimeout(resolve, AGAIN));
    }
  }
}

export function ExportDialog({ line, close }: { line: Whole; close: () => void }) {
  const { begin, under } = useBegin();
  const [packing, setPacking] = useState(false);
  const file = async () => {
    setPacking(true);
    try {
      const { url } = await packed(line.id);
      window.location.assign(url);
      close();
    } catch (error) {
      complain(error);
      setPacking(false);
    }
  };
  const ways = [
    {
      about: "A page for any browser: conversation, video, timeline, files. A job writes it.",
      command: `reenact export ${line.id} -o run.html`,
      here: (
        <button
          type="button"
          className="button primary"
          disabled={under}
          onClick={() => begin({ kind: "export", recording: line.id, options: { html: true } })}
        >
          {under ? "Starting …" : "Page (.html)"}
        </button>
      ),
    },
    {
      about: "The recording itself, for Reenact's commands and for the viewer.",
      command: `reenact export ${line.id}`,
      here: (
        <button type="button" className="button" disabled={packing} onClick={file}>
          {packing ? "Packing …" : "File (.reenact)"}
        </button>
      ),
    },
  ];
  return <Ways title="Export" ways={ways} close={close} />;
}
