// The yardstick: what node:http itself takes to pass a request on. No key, no meter, no ledger.
import { Agent, createServer, request as ask } from 'node:http'
import { listenForParent, upstreamPort } from './child.ts'

const port = upstreamPort()
const agent = new Agent({ keepAlive: true, maxSockets: 256 })

listenForParent(
  createServer((request, response) => {
    const { method = 'GET', url = '/', headers } = request
    const asked = ask({ host: '127.0.0.1', port, method, path: url, headers, agent }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers)
      reply.pipe(response)
    })
    asked.on('error', () => response.destroy())
    request.pipe(asked)
  }),
)
