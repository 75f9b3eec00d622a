import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// `npm run dev` shows the pages with the data of a server that runs already: REENACT_SERVER, else the console's port.
const server = process.env.REENACT_SERVER ?? "http://127.0.0.1:8090";

export default defineConfig({
  plugins: [react({ jsxImportSource: "shown" })],
  resolve: {
    alias: [
      { find: /^shown\/jsx-(dev-)?runtime$/, replacement: `${import.meta.dirname}/src/shown/jsx-runtime.ts` },
    ],
  },
  build: {
    outDir: "../src/reenact/server/console",
    emptyOutDir: true,
    // The content security policy allows no data: address but for pictures.
    assetsInlineLimit: 0,
    target: "es2022",
    reportCompressedSize: false,
  },
  server: { proxy: { "/api": { target: server, changeOrigin: true } } },
});
