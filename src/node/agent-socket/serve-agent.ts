// The agent's end of ask-agent.ts: a unix socket on which the programs of a product ask for acts that only the agent
// can do. A secret that the programs were started with identifies them.
import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { serveUnix, type UnixServer } from '#base/unix-server.ts'
import { SECRET_HEADER, type AgentSocket } from './ask-agent.ts'

/** Everybody may connect, as cells may have uids of their own. */
const MODE = 0o666

/** Answers those who know the secret, for as long as `answer` keeps an answer open; others get 403. */
export const serveAgent = (
  { socketPath: socket, secret }: AgentSocket,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<UnixServer> =>
  serveUnix({ socket, mode: MODE, requestTimeoutMs: 0 }, (request, response) => {
    request.on('error', () => undefined)
    if (isSame(String(request.headers[SECRET_HEADER] ?? ''), secret)) answer(request, response)
    else response.writeHead(403).end()
  })

const isSame = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
