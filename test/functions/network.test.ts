// Code of functions in the network: it reaches public addresses and the service's own, and nothing else.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, createServer, get, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { test, type TestContext } from 'node:test'
import { sleep } from '#base/clock.ts'
import { product, sharedErgon } from '../product.ts'
import { functionClient, until } from './function-client.ts'

/** Stands for a public address. */
const PUBLIC = '127.0.0.9'
/** Stands for a machine of the operator. */
const PRIVATE = '127.0.0.8'
product({ env: { ERGON_EGRESS_NETWORKS: PUBLIC } })
const { deploy, textAt, logsOf } = functionClient(sharedErgon)

async function serve(t: TestContext, host: string, answer?: RequestListener) {
  let hits = 0
  const server = createServer((request, response) => {
    hits++
    if (answer !== undefined) return answer(request, response)
    response.end(`${request.method} ${request.url} at ${host}`)
  }).listen(0, host)
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, hits: () => hits }
}

/** Fetches the address that its caller sends, and asks for it by node:http. */
const FETCHER = `import { request } from 'node:http'
import { text } from 'node:stream/consumers'
export default async (asked) => {
  const address = await asked.text()
  const byFetch = await fetch(address).then(
    async (answer) => answer.status + ' ' + await answer.text(),
    (error) => String(error.cause?.cause ?? error.cause ?? error),
  )
  const byHttp = await new Promise((resolve) => {
    request(address, async (answer) => resolve(answer.statusCode + ' ' + await text(answer)))
      .on('error', (error) => resolve(error.message))
      .end()
  })
  return Response.json([byFetch, byHttp])
}`
const askBy = async (name: string, address: string): Promise<string[]> =>
  JSON.parse((await textAt(`/${name}`, { method: 'POST', body: address }))[1]) as string[]

test('a function reaches public addresses, and no other; refusals say why', async (t) => {
  const there = await serve(t, PUBLIC)
  const canary = await serve(t, PRIVATE)
  await deploy('fetcher', FETCHER)
  const [byFetch, byHttp] = await askBy('fetcher', `http://${PUBLIC}:${there.port}/a?b=c`)
  assert.deepEqual([byFetch, byHttp], Array(2).fill(`200 GET /a?b=c at ${PUBLIC}`))
  const refused = await askBy('fetcher', `http://${PRIVATE}:${canary.port}/`)
  const words = `Could not connect to ${PRIVATE}:${canary.port}: the address is not public: ${PRIVATE}`
  assert.match(refused[1] ?? '', new RegExp(`^403 ${words}`))
  // fetch() keeps them to itself.
  await until(
    () => logsOf('fetcher'),
    (log) => log.includes(words),
  )
  assert.equal(canary.hits(), 0)
})

/** Sends heads to the proxy as they are, and gives the line of status of each. */
const RAW = `import { connect } from 'node:net'
export default async (asked) => Response.json(await Promise.all((await asked.json()).map((head) => new Promise((resolve) => {
  const socket = connect(3128, '127.0.0.1', () => socket.write(head))
  let text = ''
  socket.on('data', (data) => (text += data)).on('error', (error) => resolve(error.message))
  socket.on('close', () => resolve(text.split('\\r\\n')[0]))
  socket.setTimeout(20_000, () => socket.destroy())
}))))`

test('no form of an address that is not public is connected to, nor by a redirect', async (t) => {
  const canary = await serve(t, PRIVATE)
  const away = await serve(t, PUBLIC, (_, response) =>
    response.writeHead(302, { location: `http://${PRIVATE}:${canary.port}/` }).end(),
  )
  await deploy('raw', RAW)
  const { port: api } = new URL(sharedErgon().baseUrl)
  const hosts = [
    '127.0.0.8',
    '127.8',
    '0177.0.0.8',
    '0x7f.0.0.8',
    '0x7f000008',
    '2130706440',
    '127.0.0.8.',
    '[::ffff:127.0.0.8]',
    '[::ffff:7f00:8]',
    '[::127.0.0.8]',
    '[64:ff9b::7f00:8]',
    '[2002:7f00:8::]',
    '0.0.0.0',
    '[::]',
    '[::1]',
    'localhost',
    'a.localhost',
    '169.254.169.254',
    '[fe80::1]',
    '[fd00::1]',
    '10.0.0.1',
    '100.64.0.1',
    '172.16.0.1',
    '192.168.0.1',
    '224.0.0.1',
    '255.255.255.255',
  ]
  const heads = hosts.flatMap((host) => {
    const place = `${host}:${canary.port}`
    return [
      `CONNECT ${place} HTTP/1.1\r\nhost: ${PUBLIC}\r\n\r\n`,
      `GET http://${place}/ HTTP/1.1\r\nhost: ${PUBLIC}\r\nconnection: close\r\n\r\n`,
      // A port of the service is no way to other ports, nor to other machines.
      `CONNECT user@${host}:${Number(api) + 1} HTTP/1.1\r\nhost: x\r\n\r\n`,
    ]
  })
  const [status, body] = await textAt('/raw', { method: 'POST', body: JSON.stringify(heads) })
  assert.equal(status, 200, body)
  const lines = JSON.parse(body) as string[]
  for (const [nth, line] of lines.entries())
    assert.match(line, /^HTTP\/1\.1 40[03] Could not connect to /, heads[nth])
  assert.match(lines[0] ?? '', /: the address is not public: 127\.0\.0\.8$/)
  const [byFetch] = await askBy('fetcher', `http://${PUBLIC}:${away.port}/`)
  assert.match(byFetch ?? '', /403/)
  assert.deepEqual([canary.hits(), away.hits()], [0, 2])
})

test('mail between servers, other programs and the portal cannot be reached', async () => {
  const { port } = new URL(sharedErgon().baseUrl)
  const heads = [
    `${PUBLIC}:25`,
    `localhost:${Number(port) + 1}`,
    `127.0.0.1:${Number(port) + 4}`,
  ].map((place) => `CONNECT ${place} HTTP/1.1\r\n\r\n`)
  const lines = (
    JSON.parse(
      (await textAt('/raw', { method: 'POST', body: JSON.stringify(heads) }))[1],
    ) as string[]
  ).map((line) => line.replace(/^.*?:\d+: /, ''))
  assert.deepEqual(lines, [
    'port 25 is closed: send mail by a service',
    'the address is not public: 127.0.0.1',
    'the address is not public: 127.0.0.1',
  ])
})

test('a function calls the API, functions, and its database by node-postgres', async (t) => {
  const ergon = sharedErgon()
  const made = await ergon.cli('db', 'create', 'net')
  assert.equal(made.code, 0, made.stderr)
  const url = (await ergon.cli('db', 'url', 'net')).stdout.trim()
  const folder = mkdtempSync(join(tmpdir(), 'ergon-network-'))
  t.after(() => rmSync(folder, { recursive: true }))
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  const file = join(folder, 'caller.ts')
  writeFileSync(
    file,
    `import pg from 'pg'
    export default {
      async fetch(_: Request, env: Record<string, string>) {
        const api = await fetch(env.API + '/v1/functions/fetcher', { headers: { authorization: 'Bearer ' + env.TOKEN } })
        const other = await fetch(env.FUNCTIONS + '/fetcher', { method: 'POST', body: env.API + '/healthz' })
        const client = new pg.Client(env.DATABASE_URL + '&uselibpqcompat=true')
        await client.connect()
        const { rows } = await client.query('select 6 * 7 as answer')
        await client.end()
        return Response.json([api.status, (await api.json()).name, (await other.json())[0].slice(0, 3), rows])
      },
    }`,
  )
  const env = {
    API: ergon.baseUrl,
    TOKEN: ergon.token,
    FUNCTIONS: String(ergon.ready['functions_url']),
    DATABASE_URL: url,
  }
  const words = Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`])
  const deployed = await ergon.cli('fn', 'deploy', file, ...words)
  assert.equal(deployed.code, 0, deployed.stderr)
  const [status, body] = await textAt('/caller')
  assert.deepEqual(
    [status, body],
    [200, '[200,"fetcher","200",[{"answer":42}]]'],
    await logsOf('caller'),
  )
})

test('a new object is read by the address that its function gets', async () => {
  const ergon = sharedErgon()
  assert.equal((await ergon.cli('storage', 'mb', 's3://net-photos')).code, 0)
  const source = `export const handler = async ({ presigned_url }) => console.log(await (await fetch(presigned_url)).text())`
  await deploy('reader', source, { on: ['bucket/net-photos/object-created'] })
  const folder = mkdtempSync(join(tmpdir(), 'ergon-network-'))
  writeFileSync(join(folder, 'one'), 'the body of one')
  const { code, stderr } = await ergon.cli(
    'storage',
    'cp',
    join(folder, 'one'),
    's3://net-photos/one',
  )
  rmSync(folder, { recursive: true })
  assert.equal(code, 0, stderr)
  await until(
    () => logsOf('reader'),
    (log) => log.includes('the body of one'),
  )
})

test('a function in Python reaches a public address, the API and the database endpoint', async (t) => {
  const there = await serve(t, PUBLIC)
  const { baseUrl, ready } = sharedErgon()
  const source = `import socket, struct, urllib.request
def handler(event, context):
    read = lambda url: urllib.request.urlopen(url, timeout=20).read().decode()
    database = socket.create_connection(('localhost', ${String(ready['db_port'])}), timeout=20)
    database.sendall(struct.pack('!ii', 8, 80877103))
    return read('http://${PUBLIC}:${there.port}/') + read('${baseUrl}/healthz')[:1] + database.recv(1).decode()`
  await deploy('snake', source, { file: 'snake.py', runtime: undefined })
  assert.deepEqual(await textAt('/snake'), [200, `GET / at ${PUBLIC}{S`], await logsOf('snake'))
})

test('a killed proxy fails calls with words, and later calls work', async (t) => {
  const there = await serve(t, PUBLIC)
  const address = `http://${PUBLIC}:${there.port}/`
  assert.match((await askBy('fetcher', address))[1] ?? '', /^200/)
  await sharedErgon().killCell('egress')
  const seen = new Set<string>()
  await until(
    async () => {
      const [, byHttp = ''] = await askBy('fetcher', address)
      seen.add(byHttp.slice(0, 3))
      return byHttp
    },
    (byHttp) => byHttp.startsWith('200'),
  )
  for (const one of seen) assert.ok(['200', '503', 'soc'].includes(one), one)
})

const DOWNLOAD_BYTES = 20 * 2 ** 20

/** CPU in the shares of all windows of cells whose names match. */
async function shareNs(names: string): Promise<number> {
  const [row] = await sharedErgon().sql<{ ns: string }>(
    `select coalesce(sum((s ->> 'cpu_ns')::bigint), 0)::text as ns
     from windows, jsonb_array_elements(convert_from(bytes, 'UTF8')::jsonb -> 'shares') s
     where s ->> 'name' like $1`,
    [names],
  )
  return Number(row?.ns)
}

test('a function that downloads pays for the proxy, which is left with little', async (t) => {
  const { port } = await serve(
    t,
    PUBLIC,
    (_, response) => void response.end(Buffer.alloc(DOWNLOAD_BYTES)),
  )
  await deploy(
    'loader',
    `export default async (asked) => {
      const answer = await fetch(await asked.text())
      let bytes = 0
      for await (const chunk of answer.body) bytes += chunk.length
      return new Response(String(bytes))
    }`,
  )
  const proxyBefore = await shareNs('egress')
  for (let nth = 0; nth < 5; nth++)
    assert.equal(
      (await textAt('/loader', { method: 'POST', body: `http://${PUBLIC}:${port}/` }))[1],
      String(DOWNLOAD_BYTES),
    )
  await sleep(2500)
  const [ofProxy, ofFunction] = [(await shareNs('egress')) - proxyBefore, await shareNs('fn-%')]
  // Without the move 25 % of the function's share, with it 1 %: the page that the agent asks for.
  assert.ok(ofFunction > 0 && ofProxy < ofFunction / 10, `proxy ${ofProxy}, function ${ofFunction}`)
})

test('a function that answers pays for the ingress, which is left with little', async () => {
  await deploy('answers', "export default () => new Response('x'.repeat(4096))")
  await textAt('/answers')
  await sleep(2500)
  const before = await Promise.all([shareNs('ingress'), shareNs('fn-%')])
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  try {
    for (let nth = 0; nth < 5000; nth++) await textOf(agent, '/answers')
  } finally {
    agent.destroy()
  }
  await sleep(2500)
  const [ofIngress = 0, ofFunctions = 0] = (
    await Promise.all([shareNs('ingress'), shareNs('fn-%')])
  ).map((ns, nth) => ns - (before[nth] ?? 0))
  // Without the move the ingress had 0.93 of the function's share.
  assert.ok(ofIngress < ofFunctions / 10, `ingress ${ofIngress}, functions ${ofFunctions}`)
})

/** By a connection that is kept. */
async function textOf(agent: Agent, path: string): Promise<void> {
  const request = get(`${String(sharedErgon().ready['functions_url'])}${path}`, { agent })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  await once(response.resume(), 'end')
}
