// A real registry for tests (Debian's docker-registry), the images that skopeo pushes to it, and a proxy in front of it.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freeBlock } from '../ports.ts'

const PROGRAMS = ['/usr/bin/docker-registry', '/usr/bin/skopeo']
const absent = PROGRAMS.filter((path) => !existsSync(path))
const START_MS_MAX = 20_000

/** The option `skip` of `test`: the missing programs, or false. */
export const noRegistry: string | false = absent.length > 0 && `missing: ${absent.join()}`

export interface Registry {
  /** Host and port. */
  readonly host: string
  skopeo(...words: readonly string[]): void
  /** Pushes the image `v1` of a layout. */
  push(layout: string, repository: string): void
  stop(): void
}

/** The one line of an htpasswd file: reader, a:s3cret. */
export const READER = {
  user: 'reader',
  password: 'a:s3cret',
  line: 'reader:$2y$04$abcdefghijklmnopqrstuuaAUAAV0nZB5rSYsCgNdFa.iKLJpF7zK',
} as const

/** Starts one whose files are below `home`; a closed one has those of the others there, and opens to READER alone. */
export async function startRegistry(
  home: string,
  { isClosed = false }: { readonly isClosed?: boolean } = {},
): Promise<Registry> {
  const host = `127.0.0.1:${await freeBlock()}`
  const config = join(home, `registry-${isClosed}.yml`)
  const readers = join(home, 'htpasswd')
  const storage = join(home, 'registry')
  writeFileSync(readers, `${READER.line}\n`)
  const lines = [
    'version: 0.1',
    'log: {level: error}',
    `storage: {filesystem: {rootdirectory: ${storage}}}`,
    `http: {addr: "${host}"}`,
    ...(isClosed ? [`auth: {htpasswd: {realm: closed, path: ${readers}}}`] : []),
  ]
  writeFileSync(config, `${lines.join('\n')}\n`)
  const child = spawn('docker-registry', ['serve', config], { stdio: 'ignore' })
  const ending = AbortSignal.timeout(START_MS_MAX)
  const answers = () =>
    fetch(`http://${host}/v2/`).then(
      ({ status }) => status === (isClosed ? 401 : 200),
      () => false,
    )
  while (!(await answers())) await pause(50, undefined, { signal: ending })
  const skopeo: Registry['skopeo'] = (...words) =>
    void execFileSync('skopeo', ['--insecure-policy', '--tmpdir', home, ...words], {
      stdio: 'pipe',
    })
  return {
    host,
    skopeo,
    push: (layout, repository) =>
      skopeo(
        'copy',
        '--dest-tls-verify=false',
        `oci:${layout}:v1`,
        `docker://${host}/${repository}:v1`,
      ),
    stop: () => void child.kill(),
  }
}

export type RegistryProxyHandler = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  pass: () => void,
) => void

/** A proxy in front of a registry that a test can make fail; its host and port. */
export async function openRegistryProxy(
  registry: string,
  handle: RegistryProxyHandler,
  port = 0,
): Promise<string> {
  const server = createServer((incoming, outgoing) => {
    const pass = () => {
      const options = { headers: { ...incoming.headers, host: registry } }
      request(`http://${registry}${incoming.url}`, options, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(outgoing)
      }).end()
    }
    handle(incoming, outgoing, pass)
  }).listen(port, '127.0.0.1')
  await once(server, 'listening')
  server.unref()
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}
