// A service that answers as a test says, and commands as they are typed at it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before } from 'node:test'
import { invariant } from '#base/errors.ts'
import { environmentWith } from './environment.ts'

export const PROGRAM = join(import.meta.dirname, 'ergon.mjs')
/** The time of all that the service tells of. */
export const AT = '2026-11-27T10:00:00.000Z'
export const page = (...data: object[]) =>
  JSON.stringify({ object: 'list', data, has_more: false, next_cursor: null })
export const backup = {
  id: 'bkp_1',
  kind: 'manual',
  status: 'running',
  reason: null,
  stored_bytes: 0,
  created_at: AT,
  ended_at: null,
}
/** The answer of a service that stops. */
export const AWAY = '{"title":"draining","detail":"No"}'

/** The body by method and path, by path with its query, or by path. */
type Answers = Readonly<Record<string, string>>
/** The answers to the polls of a path, in order; the last answer stays. */
type Polls = Readonly<Record<string, readonly string[]>>

/** A service for the tests of a suite. An unknown path answers 404. */
export function fakeService({
  answers,
  polls,
}: {
  readonly answers: Answers
  readonly polls: Polls
}) {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-typed-'))
  let server: Server
  /** The last body of each method and path. */
  const bodies = new Map<string, string>()
  const waiting = new Map(Object.entries(polls).map(([path, all]) => [path, [...all]]))
  const pollOf = (path: string) => {
    const left = waiting.get(path)
    return left !== undefined && left.length > 1 ? left.shift() : left?.[0]
  }
  before(async () => {
    server = createServer(async (request, response) => {
      const { url = '', method = '' } = request
      const path = url.split('?')[0] ?? ''
      bodies.set(`${method} ${path}`, await text(request))
      const answer = answers[`${method} ${path}`] ?? pollOf(path) ?? answers[url] ?? answers[path]
      const status = answer === undefined ? 404 : answer === AWAY ? 503 : 200
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(answer ?? '{}')
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  after(() => {
    server.close()
    rmSync(folder, { recursive: true })
  })
  const portOf = () => (server.address() as { port: number }).port

  function startIn(more: Readonly<Record<string, string>>, program: string, ...words: string[]) {
    const env = environmentWith({
      ERGON_BASE_URL: `http://127.0.0.1:${portOf()}`,
      ERGON_TOKEN: `svc_${'a'.repeat(38)}`,
      ...more,
    })
    return spawn(program, words, { cwd: folder, env })
  }
  const start = (program: string, ...words: string[]) => startIn({}, program, ...words)
  const run = (program: string, ...words: string[]) => outcomeOf(start(program, ...words))
  return {
    folder,
    bodies,
    portOf,
    /** The answers to the next polls of a path. */
    willAnswer: (path: string, all: readonly string[]) => void waiting.set(path, [...all]),
    start,
    startIn,
    run,
    ergon: (...words: string[]) => run(process.execPath, PROGRAM, ...words),
    runIn: (more: Readonly<Record<string, string>>, ...words: string[]) =>
      outcomeOf(startIn(more, process.execPath, PROGRAM, ...words)),
  }
}

/** The exit code of a command, and all that it wrote. */
export async function outcomeOf(child: ReturnType<typeof spawn>) {
  const ended = once(child, 'exit')
  const { stdout, stderr } = child
  invariant(stdout !== null && stderr !== null, 'the outputs of a command are pipes')
  const [out, told] = await Promise.all([text(stdout), text(stderr)])
  const [code] = (await ended) as [number]
  return { code, out, told }
}
