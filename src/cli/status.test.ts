// `ergon status` as typed, where no data folder is or an address is given.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'

const PROGRAM = join(import.meta.dirname, 'ergon.mjs')
const at = '2026-11-27T10:00:00.000Z'
const part = (id: string, state: string, reason: string | null) =>
  ({ id, name: id, request: null, state, reason, at, last: null, days: [] }) as const
const PROBE = {
  object: 'probe',
  every_seconds: 600,
  components: [part('api', 'ok', null), part('storage', 'failed', 'no answer in time')],
}

suite('ergon status', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-status-'))
  let isAway = false
  const asked: unknown[] = []
  const server = createServer(({ url, headers }, response) => {
    asked.push([url, headers.authorization])
    const type = isAway ? 'application/problem+json' : 'application/json'
    response.writeHead(isAway ? 503 : 200, { 'content-type': type })
    const answer = url === '/v1/probe' ? PROBE : { status: 'ready' }
    response.end(JSON.stringify(isAway ? { title: 'x', detail: 'The state is away' } : answer))
  })
  let port = 0
  let baseUrl = ''
  before(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    port = (server.address() as { port: number }).port
    baseUrl = `http://127.0.0.1:${port}`
  })
  after(() => {
    server.close()
    rmSync(folder, { recursive: true })
  })

  /** Runs `ergon status` in the folder, without a token. */
  const status = (env: Readonly<Record<string, string>>, ...words: readonly string[]) =>
    new Promise<{ code: number; out: string; told: string }>((resolve) => {
      const all = { PATH: process.env['PATH'] ?? '', HOME: folder, XDG_CONFIG_HOME: folder, ...env }
      execFile(
        process.execPath,
        [PROGRAM, 'status', ...words],
        { cwd: folder, env: all },
        (error, out, told) => resolve({ code: error === null ? 0 : Number(error.code), out, told }),
      )
    })

  test('ergon status at a given address shows what the service there tells everyone', async () => {
    const { code, out, told } = await status({ ERGON_BASE_URL: baseUrl })
    assert.equal(code, 0, told)
    assert.deepEqual(out.trim().split('\n'), [
      `service  ${baseUrl}: ready`,
      'PART     STATE   PROBED                    REASON',
      `api      ok      ${at}`,
      `storage  failed  ${at}  no answer in time`,
      'probe    each 600 s',
    ])
    assert.deepEqual(asked, [
      ['/readyz', undefined],
      ['/v1/probe', undefined],
    ])
    const json = await status({}, '--base-url', baseUrl, '--json')
    assert.deepEqual(JSON.parse(json.out), {
      address: baseUrl,
      ready: true,
      reason: null,
      probe: PROBE,
    })
  })

  test('ergon status says why a service at a given address is not ready', async (t) => {
    isAway = true
    t.after(() => (isAway = false))
    const { code, out, told } = await status({ ERGON_BASE_URL: baseUrl })
    assert.equal(code, 0, told)
    assert.equal(
      out,
      `service  ${baseUrl}: not ready: The state is away\nprobe    does not answer\n`,
    )
  })

  test('ergon status asks the node of a data folder, unless a flag gives the address of another service', async (t) => {
    const data = join(folder, '.ergon')
    mkdirSync(data)
    t.after(() => rmSync(data, { recursive: true }))
    writeFileSync(join(data, 'ergon.json'), JSON.stringify({ port, runFolder: data }))
    const isNode = { code: 1, told: /Ergon does not run on this data folder/ }
    for (const [env, ...words] of [
      [{}],
      [{}, '--base-url', baseUrl],
      [{ ERGON_BASE_URL: 'https://cloud.example' }],
      [{ ERGON_BASE_URL: 'https://cloud.example' }, '--data', data],
    ] as const) {
      const { code, told } = await status(env, ...words)
      assert.deepEqual([code, isNode.told.test(told)], [isNode.code, true], told)
    }
    writeFileSync(join(data, 'ergon.json'), JSON.stringify({ port: port + 1, runFolder: data }))
    assert.equal((await status({}, '--base-url', baseUrl)).code, 0)
  })
})
