// A receiver of webhooks: node examples/webhooks/receiver.ts, with the secret in ERGON_WEBHOOK_SECRET.
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { verifyWebhook, WebhookVerificationError } from '@ergon-cloud/ergon/webhooks'

const secret = process.env['ERGON_WEBHOOK_SECRET'] ?? ''
// Everyone can sign with an empty secret.
if (!/^whsec_./.test(secret))
  throw new Error('Set ERGON_WEBHOOK_SECRET to what `ergon webhook create` printed: whsec_…')
const port = Number(process.env['PORT'] ?? 3000)
/** An event may arrive twice. A real receiver keeps the ids beside what it does, in one transaction. */
const handled = new Set<string>()

const server = createServer((request, response) => {
  void buffer(request)
    .then((body) => {
      const { event, event_id: id, data } = verifyWebhook(body, request.headers, secret)
      if (!handled.has(id)) console.log(event, id, data)
      handled.add(id)
      // Within 15 s: do long work after the answer.
      response.writeHead(204).end()
    })
    .catch((error: unknown) => {
      const isForged = error instanceof WebhookVerificationError
      response.writeHead(isForged ? 400 : 500).end(String(error))
    })
})
server.listen(port, '127.0.0.1', () => console.log(`Receiving at http://127.0.0.1:${port}/`))
