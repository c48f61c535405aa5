// Debian's Firefox for tests of the portal. Marionette drives the browser (the protocol below geckodriver: numbered JSON
// behind its length), with an authenticator of its own; WebDriver BiDi tells what pages report. Both are parts of Firefox.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

const FIREFOX = '/usr/bin/firefox-esr'
const START_MS_MAX = 60_000
const END_MS_MAX = 10_000
const WAIT_MS = 30_000
const LOOK_MS = 50
/** Requests of the browser itself go nowhere, and its port is a free one. */
const PREFERENCES: Readonly<Record<string, string | number | boolean>> = {
  'marionette.port': 0,
  'app.normandy.enabled': false,
  'app.update.disabledForTesting': true,
  'browser.safebrowsing.malware.enabled': false,
  'browser.safebrowsing.phishing.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.page': 0,
  'datareporting.policy.dataSubmissionEnabled': false,
  'extensions.update.enabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  // Authenticators of Marionette answer in place of keys that are plugged in.
  'security.webauth.webauthn_enable_softtoken': true,
  'security.webauth.webauthn_enable_usbtoken': false,
  'services.settings.server': 'data:,#remote-settings-dummy/v1',
  'toolkit.telemetry.reportingpolicy.firstRun': false,
}
const PLATFORM_AUTHENTICATOR = {
  protocol: 'ctap2',
  transport: 'internal',
  hasResidentKey: true,
  hasUserVerification: true,
  isUserConsenting: true,
  isUserVerified: true,
}
/** Firefox reports breaches of a policy to the page alone. */
const TELL_BREACHES = `() => addEventListener('securitypolicyviolation',
  ({ violatedDirective, blockedURI }) => console.error('policy', violatedDirective, blockedURI))`

/** A reason to skip the tests that need Firefox, or false. */
export const withoutFirefox: string | false = existsSync(FIREFOX)
  ? false
  : `${FIREFOX} is missing: apt-get install firefox-esr`

export type Firefox = AsyncDisposable & {
  go(address: string): Promise<void>
  address(): Promise<string>
  /** Waits for an element, and clicks or fills it. XPath. */
  press(path: string): Promise<void>
  fill(path: string, text: string): Promise<void>
  /** Waits until an element is shown. */
  see(path: string): Promise<void>
  /** The value of an expression in the page. */
  read(expression: string): Promise<unknown>
  /** Errors that pages reported, and addresses that they asked, since the last call. */
  reported(): { readonly errors: readonly string[]; readonly asked: readonly string[] }
}

/** Starts the browser in a profile of its own; `await using` ends it and removes the profile. */
export async function openFirefox(): Promise<Firefox> {
  const profile = mkdtempSync(join(tmpdir(), 'firefox-'))
  const lines = Object.entries(PREFERENCES).map(
    ([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});`,
  )
  writeFileSync(join(profile, 'user.js'), lines.join('\n'))
  const child = spawn(
    FIREFOX,
    [
      '--headless',
      '--marionette',
      '--remote-debugging-port=0',
      '--no-remote',
      '--profile',
      profile,
    ],
    // Without a home of its own it writes into that of the person who runs the tests.
    {
      stdio: 'ignore',
      env: { PATH: process.env['PATH'], HOME: profile, MOZ_CRASHREPORTER_DISABLE: '1' },
    },
  )
  try {
    const browser = await openMarionette(await portOf(child, profile))
    const { capabilities } = (await browser.ask('WebDriver:NewSession', {
      webSocketUrl: true,
    })) as { readonly capabilities: { readonly webSocketUrl: string } }
    const reports = await listen(capabilities.webSocketUrl)
    await browser.ask('WebAuthn:AddVirtualAuthenticator', PLATFORM_AUTHENTICATOR)
    await browser.ask('WebDriver:SetTimeouts', { pageLoad: WAIT_MS })
    return driverOf(browser, reports, async () => {
      reports.end()
      browser.end()
      await end(child, profile)
    })
  } catch (error) {
    await end(child, profile)
    throw error
  }
}

type Marionette = { ask(name: string, given?: object): Promise<unknown>; end(): void }
type Reports = { readonly taken: () => ReturnType<Firefox['reported']>; end(): void }

function driverOf({ ask }: Marionette, { taken }: Reports, close: () => Promise<void>): Firefox {
  const find = async (path: string) => {
    const { value } = (await ask('WebDriver:FindElement', { using: 'xpath', value: path })) as {
      readonly value: Readonly<Record<string, string>>
    }
    return Object.values(value)[0] ?? ''
  }
  /** Again while it is not there, or is drawn anew. Firefox's own waiting goes on in the document that a page leaves. */
  const withElement = async (path: string, act: (id: string) => Promise<unknown>) => {
    const lastMs = performance.now() + WAIT_MS
    for (;;) {
      const failure = await find(path)
        .then(act)
        .then((done) => (done === false ? new Error(`Not ready: ${path}`) : undefined))
        .catch((error: unknown) => error)
      if (failure === undefined) return
      if (performance.now() > lastMs) throw failure
      await pause(LOOK_MS)
    }
  }
  const valueOf = async (name: string, given: object) =>
    ((await ask(name, given)) as { readonly value: unknown }).value
  const isShown = async (id: string) =>
    (await valueOf('WebDriver:IsElementDisplayed', { id })) === true
  const isReady = async (id: string) =>
    (await isShown(id)) && (await valueOf('WebDriver:IsElementEnabled', { id })) === true
  return {
    go: async (url) => void (await ask('WebDriver:Navigate', { url })),
    address: async () => String(await valueOf('WebDriver:GetCurrentURL', {})),
    press: (path) =>
      withElement(path, async (id) => (await isReady(id)) && ask('WebDriver:ElementClick', { id })),
    fill: (path, text) =>
      withElement(
        path,
        async (id) => (await isReady(id)) && ask('WebDriver:ElementSendKeys', { id, text }),
      ),
    see: (path) => withElement(path, isShown),
    read: (expression) =>
      valueOf('WebDriver:ExecuteScript', { script: `return ${expression}`, args: [] }),
    reported: taken,
    [Symbol.asyncDispose]: close,
  }
}

/** Its port is in a file of the profile once it listens. */
async function portOf(child: ChildProcess, profile: string): Promise<number> {
  const file = join(profile, 'MarionetteActivePort')
  const lastMs = performance.now() + START_MS_MAX
  while (!existsSync(file) || readFileSync(file, 'utf8') === '') {
    if (child.exitCode !== null) throw new Error(`Firefox ended: ${child.exitCode}`)
    if (performance.now() > lastMs) throw new Error('Firefox does not listen')
    await pause(LOOK_MS)
  }
  return Number(readFileSync(file, 'utf8'))
}

type Reply = readonly [type: number, id: number, error: object | null, result: unknown]

async function openMarionette(port: number): Promise<Marionette> {
  const socket: Socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  const waiting = new Map<number, (reply: Reply) => void>()
  let received = Buffer.alloc(0)
  let asked = 0
  socket.on('data', (bytes: Buffer) => {
    received = Buffer.concat([received, bytes])
    for (;;) {
      const colon = received.indexOf(':')
      const length = Number(received.subarray(0, Math.max(0, colon)))
      if (colon < 0 || received.length < colon + 1 + length) return
      const reply = JSON.parse(String(received.subarray(colon + 1, colon + 1 + length))) as Reply
      received = received.subarray(colon + 1 + length)
      // The first message is a greeting.
      if (Array.isArray(reply)) waiting.get(reply[1])?.(reply)
    }
  })
  const fail = (why: string) => {
    for (const [id, hear] of waiting) hear([1, id, { message: why }, null])
  }
  socket.on('error', ({ message }) => fail(message))
  socket.on('close', () => fail('Firefox has ended'))
  return {
    ask: (name, given = {}) =>
      new Promise((resolve, reject) => {
        const id = ++asked
        waiting.set(id, ([, , error, result]) => {
          waiting.delete(id)
          if (error === null) resolve(result)
          else
            reject(
              new Error(`${name} ${JSON.stringify(given)}: ${JSON.stringify(error).slice(0, 500)}`),
            )
        })
        const text = JSON.stringify([0, id, name, given])
        socket.write(`${Buffer.byteLength(text)}:${text}`)
      }),
    end: () => void socket.destroy(),
  }
}

type BidiMessage = {
  readonly id?: number
  readonly method?: string
  readonly params?: {
    readonly level?: string
    readonly text?: string
    readonly request?: { readonly url: string }
  }
}

/** Keeps the reports of pages from now on. */
async function listen(address: string): Promise<Reports> {
  const socket = new WebSocket(address)
  await once(socket as unknown as EventTarget, 'open')
  let errors: string[] = []
  let asked: string[] = []
  const answered = Promise.withResolvers<void>()
  const commands = [
    ['session.subscribe', { events: ['log.entryAdded', 'network.beforeRequestSent'] }],
    ['script.addPreloadScript', { functionDeclaration: TELL_BREACHES }],
  ] as const
  socket.addEventListener('message', ({ data }) => {
    const { id, method, params } = JSON.parse(String(data)) as BidiMessage
    if (id === commands.length) answered.resolve()
    if (method === 'log.entryAdded' && params?.level === 'error') errors.push(params.text ?? '')
    if (method === 'network.beforeRequestSent') asked.push(params?.request?.url ?? '')
  })
  for (const [nth, [method, params]] of commands.entries())
    socket.send(JSON.stringify({ id: nth + 1, method, params }))
  await answered.promise
  return {
    taken() {
      const all = { errors, asked }
      errors = []
      asked = []
      return all
    },
    end: () => socket.close(),
  }
}

async function end(child: ChildProcess, profile: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await Promise.race([ended, pause(END_MS_MAX, undefined, { ref: false })])
    child.kill('SIGKILL')
  }
  rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
}
