// The agent's end of ask-agent.ts: a unix socket on which the programs of a product ask for acts that only the agent
// can do. A secret that the programs were started with identifies them.
import { timingSafeEqual } from 'node:crypto'
import { createServer, type Socket } from 'node:net'
import { listenUnix } from '#base/unix-server.ts'
import type { AgentSocket, FirstLine } from './ask-agent.ts'
import { lineOf, onLines } from './json-lines.ts'

/** A request of a process, with the lines that answer it. It is open until either end closes the connection. */
export interface OpenRequest<Line extends object = object> {
  readonly path: string
  /** Called with each further line of the process. A line that it throws at ends the request. */
  onLine: (line: unknown) => void
  /** False where nothing can be said any more. */
  readonly isOpen: boolean
  /** Does nothing once the request has ended. */
  say(line: Line): void
  /** Ends the request, with a last line if there is one. */
  end(line?: Line): void
  /** Ends the request at once, without the lines that are on their way. */
  destroy(): void
  /** Calls back when the request has ended; at once where it has. */
  whenEnded(act: () => void): void
}

export interface AgentServer {
  /** Takes no new request and ends those that are open. */
  close(): Promise<void>
}

/** Everybody may connect, as cells may have uids of their own. */
const MODE = 0o666
const FIRST_LINE_MS = 60_000
/** The longest wait for a process to close a request that the agent has ended. */
const LAST_LINE_MS = 10_000

/** Answers those who know the secret, for as long as `answer` keeps a request open. The connections of others are cut. */
export async function serveAgent(
  { socketPath, secret }: AgentSocket,
  answer: (request: OpenRequest) => void,
  { firstLineMs = FIRST_LINE_MS }: { readonly firstLineMs?: number } = {},
): Promise<AgentServer> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    const late = setTimeout(() => socket.destroy(), firstLineMs)
    socket.on('close', () => {
      clearTimeout(late)
      sockets.delete(socket)
    })
    // 'close' follows.
    socket.on('error', () => undefined)
    socket.on('end', () => socket.destroy())
    let request: SocketRequest | undefined
    onLines(socket, (line) => {
      if (request !== undefined) return request.onLine(line)
      clearTimeout(late)
      if (!isFirstLine(line) || !isSame(line.secret, secret)) return void socket.destroy()
      request = new SocketRequest(line.path, socket)
      answer(request)
    })
  })
  await listenUnix(server, { socket: socketPath, mode: MODE })
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

class SocketRequest implements OpenRequest {
  readonly path: string
  onLine: OpenRequest['onLine'] = () => undefined
  readonly #socket: Socket

  constructor(path: string, socket: Socket) {
    this.path = path
    this.#socket = socket
  }

  get isOpen(): boolean {
    return this.#socket.writable
  }

  say(line: object): void {
    if (this.isOpen) this.#socket.write(lineOf(line))
  }

  end(line?: object): void {
    if (line !== undefined) this.say(line)
    this.onLine = () => undefined
    // The process closes once it has read: a write of its own to a closed socket would lose what it has not read.
    this.#socket.end()
    const late = setTimeout(() => this.#socket.destroy(), LAST_LINE_MS)
    this.whenEnded(() => clearTimeout(late))
  }

  destroy(): void {
    this.#socket.destroy()
  }

  whenEnded(act: () => void): void {
    if (this.#socket.closed) act()
    else this.#socket.once('close', act)
  }
}

function isFirstLine(line: unknown): line is FirstLine {
  const { secret, path } = (line ?? {}) as Partial<FirstLine>
  return typeof secret === 'string' && typeof path === 'string'
}

function isSame(one: string, other: string): boolean {
  const [given, wanted] = [Buffer.from(one), Buffer.from(other)]
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}
