/** Who comes without a key says it here; the server keeps it in a cookie that no script can read. */

import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useLocation, useSearchParams } from "wouter";
import { post, Refused } from "./client";
import { connect, disconnect } from "./live";

export default function Login() {
  const [, go] = useLocation();
  const [from] = useSearchParams();
  const cache = useQueryClient();
  const [error, setError] = useState("");
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const key = new FormData(event.currentTarget).get("key");
    try {
      await post("/login", { key });
    } catch (refused) {
      setError(refused instanceof Refused ? refused.message : String(refused));
      return;
    }
    cache.clear();
    disconnect();
    connect();
    const to = from.get("to") ?? "/";
    // Only a page of ours: never an address that somebody put into a link.
    go(/^\/[^/\\]/.test(to) ? to : "/", { replace: true });
  };
  return (
    <main>
      <form className="login" onSubmit={submit}>
        <h1>Reenact</h1>
        <label htmlFor="key">API key</label>
        <input
          id="key"
          name="key"
          type="password"
          className="field"
          autoComplete="current-password"
          required
        />
        {error && (
          <p className="failure" role="alert">
            {error}
          </p>
        )}
        <button type="submit" className="button primary">
          Log in
        </button>
        <p className="quiet">
          The first start of <code>reenact serve</code> prints a key. More are made by who may:{" "}
          <code>reenact keys add</code>.
        </p>
      </form>
    </main>
  );
}
