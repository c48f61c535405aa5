// The page at the root for a person's browser. S3 lists buckets there: to nobody an empty list, which programs
// without a credential still get. It is the one answer that Accept decides.
import type { ProtocolHandler } from './protocol-handler.ts'
import type { Exchange } from './exchange.ts'
import { renderProblem } from './problem.ts'
import type { Handler } from './reply.ts'
import { addressOf, isSigned } from './wrong-address.ts'

export const isVisitor = (exchange: Exchange): boolean =>
  exchange.path === '/' &&
  (exchange.method === 'GET' || exchange.method === 'HEAD') &&
  exchange.header('authorization') === undefined &&
  exchange.header('accept')?.includes('text/html') === true &&
  !isSigned(exchange)

/** `baseUrl` is the public address, where a proxy is in front. */
export const createFrontPage = (baseUrl: string | undefined): ProtocolHandler => ({
  match: (exchange) => ({
    operation: 'service.nobody',
    endpoint: { handle: pageOf(addressOf(exchange, baseUrl)) },
    parameters: {},
  }),
  identify: () => undefined,
  body: async () => undefined,
  render: renderProblem,
})

/** No script, no style, nothing from elsewhere. The address is a host that checkForm() has seen. */
const pageOf =
  (address: string): Handler =>
  () => ({
    kind: 'known',
    status: 200,
    contentType: 'text/html; charset=utf-8',
    headers: { 'Content-Security-Policy': "default-src 'none'", Vary: 'Accept' },
    body: () => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Ergon</title></head>
<body>
<h1>Ergon</h1>
<p>A cloud that bills for joules. Programs talk to this address; there is nothing to click.</p>
<ul>
<li>API in the OpenAI shape: <code>${address}/v1</code>, with <code>Authorization: Bearer svc_…</code></li>
<li>Object storage (S3): <code>${address}</code>, the token is access key and secret key</li>
<li><a href="/readyz">Whether it is ready</a>, and
<a href="/.well-known/ergon/receipt-keys.json">the keys that receipts are checked with</a></li>
</ul>
<p>The guides are in the program's folder <code>docs/guide</code>. Try:</p>
<pre>curl ${address}/v1/models -H "Authorization: Bearer $ERGON_TOKEN"</pre>
</body>
</html>
`,
  })
