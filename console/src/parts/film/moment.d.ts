/** The page itself at a moment, as the page of `reenact watch` shows it too (`src/reenact/browser/watch/moment.js`). */
declare module "*/watch/moment.js" {
  export interface Moment {
    viewport: readonly [number, number];
    whole: boolean;
    parts: readonly string[];
    nodes: readonly unknown[];
  }

  export class MomentView {
    constructor(engine: unknown);
    readonly element: HTMLElement;
    show(key: string | null, load: () => Promise<Moment>, when: string): Promise<void>;
  }
}
