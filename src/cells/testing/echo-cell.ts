// A program that runs as a cell in tests: it answers one JSON line with one JSON line.
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { networkInterfaces } from 'node:os'

import { invariant } from '#base/errors.ts'

import { onParentGone, readConfig } from '#base/parent.ts'

export type EchoConfig = { readonly socket: string; readonly secret?: string }
export type EchoRequest =
  | { readonly ask: 'info' }
  | { readonly ask: 'read' | 'write' | 'connect'; readonly path: string }
  | {
      readonly ask: 'burn'
      readonly cpuMs: number
      readonly done: string
      readonly orphan: boolean
    }
  | { readonly ask: 'exit'; readonly code: number }
export type EchoReply = {
  readonly uid: number
  readonly groups: readonly number[]
  readonly environment: Record<string, string>
  readonly config: EchoConfig
  /** The capabilities that /proc/self/status lists. */
  readonly capabilities: readonly string[]
  readonly noNewPrivileges: boolean
  /** True where a filter of system calls is loaded. */
  readonly filtersSyscalls: boolean
  readonly interfaces: readonly string[]
  readonly pid: number
  /** The processes that the cell can see. */
  readonly processes: number
}

const config = await readConfig<unknown>()
invariant(isConfig(config), 'The config of an echo cell names its socket')
onParentGone(() => process.exit(0))
process.on('SIGTERM', () => process.exit(0))

createServer((socket) => {
  socket.on('error', () => socket.destroy())
  socket.once('data', (data) => {
    void answer(JSON.parse(data.toString('utf8')) as EchoRequest).then((reply) =>
      socket.end(`${JSON.stringify(reply)}\n`),
    )
  })
}).listen(config.socket)

async function answer(question: EchoRequest): Promise<unknown> {
  switch (question.ask) {
    case 'info':
      return info()
    case 'read':
      return outcome(() => readFileSync(question.path, 'utf8'))
    case 'write':
      return outcome(() => writeFileSync(question.path, 'mine'))
    case 'connect':
      return connecting(question.path)
    case 'burn':
      return burn(question)
    case 'exit':
      return process.exit(question.code)
  }
}

function info(): EchoReply {
  invariant(isConfig(config), 'checked above')
  const status = readFileSync('/proc/self/status', 'utf8')
  return {
    uid: process.getuid?.() ?? -1,
    groups: process.getgroups?.() ?? [],
    environment: variables(),
    config,
    capabilities: [...status.matchAll(/^Cap\w+:\t(\w+)$/gm)].map((found) => found[1] ?? ''),
    filtersSyscalls: status.includes('Seccomp:\t2'),
    noNewPrivileges: status.includes('NoNewPrivs:\t1'),
    interfaces: Object.keys(networkInterfaces()),
    pid: process.pid,
    processes: readdirSync('/proc').filter((name) => /^\d+$/.test(name)).length,
  }
}

/** The config of the cell. */
function variables(): Record<string, string> {
  const pairs = readFileSync('/proc/self/environ', 'utf8').split('\0').filter(Boolean)
  return Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  )
}

/** A child uses CPU; as an orphan its parent ends at once, and it leaves the session. */
function burn({ cpuMs, done, orphan }: EchoRequest & { ask: 'burn' }): string {
  const work = `while (process.cpuUsage().user + process.cpuUsage().system < ${cpuMs * 1000});
    require('fs').writeFileSync(${JSON.stringify(done)}, 'done')`
  const start = orphan ? '/usr/bin/setsid "$@" > /dev/null 2>&1 3>&- &' : 'exec "$@"'
  spawn('/bin/sh', ['-c', start, 'sh', process.execPath, '-e', work], { stdio: 'ignore' })
  return 'started'
}

function outcome(action: () => unknown): string {
  try {
    return String(action() ?? 'ok')
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'error'
  }
}

const connecting = (path: string) =>
  new Promise<string>((resolve) => {
    const socket = connect(path)
    socket.on('connect', () => {
      socket.destroy()
      resolve('ok')
    })
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'))
  })

function isConfig(value: unknown): value is EchoConfig {
  return typeof value === 'object' && value !== null && 'socket' in value
}
