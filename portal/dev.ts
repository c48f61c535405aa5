// Serves the portal from its sources, with reloading, in front of a running product:
//
//   ERGON_TOKEN=svc_… node portal/dev.ts http://localhost:8080 5173 [--built]
//
// --built serves portal/dist, as people get it.
// Requests of the API get the token, as the product takes a session's cookie on its own portal only. For the same
// reason the session is made up here, from the account of the token.
import type { ServerResponse } from 'node:http'
import { createServer, preview, type Plugin } from 'vite'
import { config } from './config.ts'

const [target = 'http://localhost:8080', port = '5173', built] = process.argv.slice(2)
const authorization = `Bearer ${process.env['ERGON_TOKEN'] ?? ''}`
const proxied = { target, headers: { authorization }, changeOrigin: true }

/** GET /v1/session, which only the portal's own origin answers. */
const session: Plugin = {
  name: 'session',
  configureServer: ({ middlewares }) => void middlewares.use('/v1/session', answerSession),
  configurePreviewServer: ({ middlewares }) => void middlewares.use('/v1/session', answerSession),
}

function answerSession(_: unknown, response: ServerResponse): void {
  void readSession().then((body) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
  })
}

async function readSession(): Promise<unknown> {
  const answer = await fetch(`${target}/v1/account`, { headers: { authorization } })
  const account = (await answer.json()) as { readonly id: string; readonly member: unknown }
  return {
    account_id: account.id,
    account_name: account.id,
    member: account.member,
    is_operator: true,
    expires_at: new Date(Date.now() + 86_400_000).toISOString(),
    touched_until: new Date().toISOString(),
    must_add_passkey: false,
    passkeys_count: 1,
    recovery_codes_left: 10,
  }
}

const listen = {
  host: '127.0.0.1',
  port: Number(port),
  strictPort: true,
  proxy: {
    '/v1': proxied,
    '/.well-known/ergon': proxied,
    '/s3': { ...proxied, rewrite: (path: string) => path.slice('/s3'.length) },
  },
}
const served = { ...config, plugins: [...(config.plugins ?? []), session] }
if (built === '--built') (await preview({ ...served, preview: listen })).printUrls()
else {
  const server = await createServer({ ...served, server: listen })
  await server.listen()
  server.printUrls()
}
