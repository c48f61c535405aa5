// A server of node:http that ends its replies as the gateway does, for the cost of counting unsent ones. The path says
// the length of the reply, and whether the server asks for it: /4096/counted, /4096/plain. /cpu says the CPU of the process
// in microseconds.
import { createServer, type ServerResponse } from 'node:http'
import { createUnsentReplies } from '#http/unsent-replies.ts'
import { listenForParent } from './child.ts'

const unsent = createUnsentReplies({})
const bodies = new Map<number, Buffer>()

const bodyOf = (length: number): Buffer => {
  const kept = bodies.get(length) ?? Buffer.alloc(length, 1)
  bodies.set(length, kept)
  return kept
}

/** Both forms are asynchronous, as the pipeline is: only the count differs. */
async function answer(response: ServerResponse, length: number, isCounted: boolean): Promise<void> {
  await Promise.resolve()
  try {
    response.writeHead(200, { 'Content-Length': length })
    response.end(bodyOf(length))
  } finally {
    if (isCounted) {
      const left = unsent.left(response, 'acct_bench')
      if (left !== undefined) await left
    }
  }
}

listenForParent(
  createServer((request, response) => {
    const [, length = '', form = ''] = (request.url ?? '').split('/')
    if (length !== 'cpu') return void answer(response, Number(length), form === 'counted')
    const { user, system } = process.cpuUsage()
    response.end(String(user + system))
  }),
)
