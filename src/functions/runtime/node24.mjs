// Runs one function in its cell: loads the code, and answers requests on the unix socket. Everything here is within reach of
// that code, so nothing here is believed outside: the figure of CPU is a readout, and the bill is the cell's.
//
// It answers the agent before it has its config: a spare process waits so for the function that it is to run.
//
// A request of the ingress has the header x-ergon-request-id; without it the path is one of the pages of the agent.
import { AsyncLocalStorage } from 'node:async_hooks'
import { spawnSync } from 'node:child_process'
import { closeSync, read, writeSync } from 'node:fs'
import { createServer } from 'node:http'
import { env as variables } from 'node:process'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { format, promisify } from 'node:util'
import { asLambda } from './lambda.mjs'
import { createPlaces, writeModule } from './places.mjs'

/** The descriptor of the socket that the launcher has made. */
const LISTENER = 4
const LOG_TEXT_MAX = 8000
const BODY_KNOWN_MAX = 65_536
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'trailer'])
const CHECK_MS = 5000
const readSome = promisify(read)
const MOST = 20
/** The variables by which libraries find the proxy of the cell. */
const OF_PROXY = /^(https?_proxy|no_proxy|node_use_env_proxy)$/i
const PAUSE = new Int32Array(new SharedArrayBuffer(4))
const PAUSE_MS = 10
const NO_HANDLER =
  'it exports no handler: export default { fetch(request, env, ctx) }, a default function (request, ctx), or handler(event, context)'

const current = new AsyncLocalStorage()
const running = new Set()
/** Requests that wait because the limit of running ones is reached. */
const turns = []
/** Work that handlers have left behind. */
const waiting = new Set()
let countedUs = cpuUs()
let config
let places

process.on('uncaughtException', (error) => {
  say('error', [error])
  process.exit(1)
})
process.once('SIGTERM', () => void stop())
// First: an agent that asks while the code loads gets an answer.
const server = createServer((request, response) => void answer(request, response))
server.keepAliveTimeout = 0
server.requestTimeout = 0
await new Promise((resolve) => server.listen({ fd: LISTENER }, resolve))
const loaded = readConfig().then(load)

/** The line that the agent writes on the descriptor of every cell. The code does not get the descriptor. */
async function readConfig() {
  const chunk = Buffer.alloc(65_536)
  const parts = []
  for (;;) {
    const { bytesRead } = await readSome(3, chunk)
    if (bytesRead === 0) process.exit(1)
    parts.push(Buffer.from(chunk.subarray(0, bytesRead)))
    if (chunk[bytesRead - 1] === 0x0a) break
  }
  closeSync(3)
  return JSON.parse(Buffer.concat(parts).toString('utf8'))
}

/** Resolves with the handler of the code, or why there is none. */
async function load(given) {
  config = given
  // `.js` is a module here, whatever a package.json would say.
  const file = `/tmp/${config.file.replace(/\.(m?)(js|ts)$/, '.m$2')}`
  places = createPlaces(file, config.file)
  captureConsole()
  for (const name of Object.keys(variables)) if (!OF_PROXY.test(name)) delete variables[name]
  Object.assign(variables, config.env)
  try {
    writeModule(file, config.source)
    const own = await import(pathToFileURL(file).href)
    const { handle, most } = handlerOf(own)
    if (handle === undefined) return { failure: NO_HANDLER }
    return { handle, concurrency: config.concurrency ?? most }
  } catch (error) {
    say('error', [error])
    return { failure: failureOf(error, file) }
  }
}

/** The message, with the place in the file where there is one. */
function failureOf(error, file) {
  let place = places.firstIn(String(error?.stack ?? error))
  // The error of a module's syntax does not say where it is.
  if (error instanceof SyntaxError && place === undefined)
    place = places.firstIn(
      String(spawnSync(process.execPath, ['--check', file], { timeout: CHECK_MS }).stderr),
    )
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  const words = places.shown(message).split('\n')[0]
  return `${place === undefined ? '' : `${place}: `}${words}`.slice(0, 500)
}

/** The handler, and the requests that it takes at once by default. */
function handlerOf(own) {
  const main = own.default
  if (typeof main?.fetch === 'function')
    return { handle: (request, context) => main.fetch(request, config.env, context), most: MOST }
  if (typeof main === 'function')
    return { handle: (request, context) => main(request, context), most: MOST }
  const lambda = own.handler ?? main?.handler
  return typeof lambda === 'function' ? { handle: asLambda(lambda, config), most: 1 } : {}
}

const notEnded = () =>
  `The request has not ended after ${config.timeoutMs / 1000} s: others take its place`

async function answer(request, response) {
  const id = request.headers['x-ergon-request-id']
  if (id === undefined) return await answerAgent(request, response)
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const { handle, failure, concurrency } = await loaded
  if (failure !== undefined) return response.writeHead(500, { 'x-ergon-failed': 'load' }).end()
  const one = { id, cpuUs: 0, njPerCpuS: Number(request.headers['x-ergon-tariff']) }
  if (!(await turnOf(one, { concurrency, response, gone: gone.signal }))) return
  const limit = setTimeout(() => {
    current.run(one, () => say('error', [notEnded()]))
    leave(one)
  }, config.timeoutMs)
  try {
    await answerBy(handle, { request, response, one, signal: gone.signal })
  } catch (error) {
    current.run(one, () => say('error', [error]))
    if (response.headersSent) response.destroy()
    else response.writeHead(500, { 'x-ergon-failed': 'threw' }).end()
  } finally {
    clearTimeout(limit)
    leave(one)
  }
}

const answerBy = (handle, { request, response, one, signal }) =>
  current.run(one, async () => {
    const event = request.headers['x-ergon-event']
    const made = await handle(requestOf(request, signal), contextOf(one), event)
    if (!(made instanceof Response)) throw new TypeError('the handler returned no Response')
    await send(made, response, one)
  })

/** Resolves with whether the request runs: not where its caller has left. One that waits says so, and when it begins. */
function turnOf(one, { concurrency, response, gone }) {
  if (gone.aborted) return false
  if (running.size < concurrency) return enter(one)
  response.writeProcessing()
  return new Promise((resolve) => {
    const begin = () => {
      gone.removeEventListener('abort', left)
      response.writeProcessing()
      resolve(enter(one))
    }
    const left = () => {
      turns.splice(turns.indexOf(begin), 1)
      resolve(false)
    }
    gone.addEventListener('abort', left, { once: true })
    turns.push(begin)
  })
}

function enter(one) {
  share()
  running.add(one)
  return true
}

/** Gives its place to the request that has waited longest; once. */
function leave(one) {
  share()
  if (running.delete(one)) turns.shift()?.()
}

async function answerAgent(request, response) {
  const path = request.url
  if (path === '/-/ready') return await answerReady(request, response)
  if (path === '/-/loaded') {
    const { failure = null, concurrency } = await loaded
    return response.end(JSON.stringify({ failure, concurrency }))
  }
  if (path !== '/-/idle') return response.writeHead(404).end()
  while (running.size + waiting.size > 0)
    await (waiting.size > 0 ? Promise.all(waiting) : sleep(50))
  response.writeHead(204).end()
}

/** As a function answers: a spare has loaded and compiled by then what the first request needs. */
const answerReady = (request, response) =>
  answerBy(() => new Response('{"ready":true}'), {
    request,
    response,
    one: { id: null, cpuUs: 0, njPerCpuS: 0 },
    signal: AbortSignal.any([]),
  })

function requestOf(request, signal) {
  const { method = 'GET', headers } = request
  const kept = Object.entries(headers).filter(
    ([name]) => !name.startsWith('x-ergon-') && name !== 'x-svc-event',
  )
  // Callers cannot send it: the ingress drops x-ergon-…, and the line above what they call like ours.
  if (headers['x-ergon-event'] !== undefined) kept.push(['x-svc-event', headers['x-ergon-event']])
  const list = kept.filter(([name]) => !HOP_BY_HOP.has(name)).flatMap(pairsOf)
  const hasBody = method !== 'GET' && method !== 'HEAD'
  return new Request(headers['x-ergon-url'] ?? 'http://localhost/', {
    method,
    headers: list,
    signal,
    ...(hasBody && { body: Readable.toWeb(request), duplex: 'half' }),
  })
}

const pairsOf = ([name, value]) => [value].flat().map((one) => [name, String(one)])

const contextOf = (one) => ({
  requestId: one.id,
  /** Work that goes on after the answer; the function stays awake for it, no longer than for a request. */
  waitUntil(promise) {
    const limit = new AbortController()
    const work = Promise.race([
      Promise.resolve(promise).catch((error) => current.run(one, () => say('error', [error]))),
      sleep(config.timeoutMs, undefined, { signal: limit.signal }).catch(() => undefined),
    ]).finally(() => {
      limit.abort()
      waiting.delete(work)
    })
    waiting.add(work)
  },
  /** Joules that this request has used so far. */
  energy() {
    share()
    return (one.cpuUs * one.njPerCpuS) / 1e15
  },
})

/** Sends a short body with its figure in the head; of a longer one the figure follows as a trailer. */
async function send(made, response, one) {
  const headers = {}
  for (const [name, value] of made.headers)
    if (!HOP_BY_HOP.has(name) && name !== 'set-cookie') headers[name] = value
  const cookies = made.headers.getSetCookie()
  if (cookies.length > 0) headers['set-cookie'] = cookies
  const reader = made.body?.getReader()
  const { chunks, next } = reader === undefined ? EMPTY : await beginning(reader)
  const isHead = response.req.method === 'HEAD'
  if (next === undefined || isHead) {
    // The figure comes in the head: what is not read of the body has no reader.
    if (next !== undefined) reader.cancel().catch(() => undefined)
    const body = Buffer.concat(chunks)
    if (headers['content-length'] === undefined && reader !== undefined && next === undefined)
      headers['content-length'] = body.length
    share()
    return void response
      .writeHead(made.status, { ...headers, 'x-ergon-cpu-us': Math.round(one.cpuUs) })
      .end(body)
  }
  delete headers['content-length']
  response.writeHead(made.status, { ...headers, trailer: 'x-ergon-cpu-us' })
  for (const chunk of chunks) await write(response, chunk)
  for (let read = next; ; read = reader.read()) {
    const { done, value } = await read
    if (done) break
    if (response.destroyed) return void (await reader.cancel())
    await write(response, value)
  }
  share()
  response.addTrailers({ 'x-ergon-cpu-us': String(Math.round(one.cpuUs)) })
  response.end()
}

const EMPTY = { chunks: [] }

/** The part of a body that is there at once, and the next read where that is not all. */
async function beginning(reader) {
  const chunks = []
  let bytes = 0
  let next = reader.read()
  for (;;) {
    const soon = await Promise.race([next, new Promise((resolve) => setImmediate(resolve))])
    if (soon === undefined || bytes > BODY_KNOWN_MAX) return { chunks, next }
    if (soon.done) return { chunks }
    const chunk = bytesOf(soon.value)
    chunks.push(chunk)
    bytes += chunk.length
    next = reader.read()
  }
}

const bytesOf = (value) => (typeof value === 'string' ? Buffer.from(value) : value)

const write = (response, chunk) =>
  new Promise((resolve, reject) => {
    response.write(bytesOf(chunk), (error) => (error ? reject(error) : resolve()))
  })

function cpuUs() {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** Gives the CPU since the last call to the requests that run, in equal parts. */
function share() {
  const nowUs = cpuUs()
  for (const one of running) one.cpuUs += (nowUs - countedUs) / running.size
  countedUs = nowUs
}

function captureConsole() {
  const levels = { debug: 'debug', log: 'info', info: 'info', warn: 'warn', error: 'error' }
  for (const [name, level] of Object.entries(levels))
    console[name] = (...values) => say(level, values)
}

function say(level, values) {
  const words = format(...values)
  const text = (places?.shown(words) ?? words).slice(0, LOG_TEXT_MAX)
  const line = { ergon: 1, request: current.getStore()?.id ?? null, level, text }
  writeOut(Buffer.from(`${JSON.stringify(line)}\n`))
}

/** Waits while the agent does not read: lines that are kept in memory would end the process. */
function writeOut(bytes) {
  for (let at = 0; at < bytes.length;)
    try {
      at += writeSync(1, bytes, at)
    } catch (error) {
      // Code that uses process.stdout itself makes the descriptor one that does not wait.
      if (error.code !== 'EAGAIN') return
      Atomics.wait(PAUSE, 0, 0, PAUSE_MS)
    }
}

/** Ends what runs, and then the process; the agent kills what takes too long. */
async function stop() {
  server.close()
  while (running.size + waiting.size > 0)
    await (waiting.size > 0 ? Promise.all(waiting) : sleep(20))
  process.exit(0)
}
