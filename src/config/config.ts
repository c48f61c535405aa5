// Settings, checked. All faults are reported at once, by the name that was set.
import { resolve } from 'node:path'
import { z } from 'zod'
import { messageOf } from '#base/errors.ts'
import { Secret } from '#base/log.ts'
import { parseSubnet } from '#base/subnets.ts'
import { fault } from '#contract/errors.ts'
import { S3_ADDRESS, s3Endpoint, s3Key, s3Region, s3Stores } from './s3-stores.ts'
import { nearest } from './nearest.ts'
import { isSecret, readSecretFile, SETTINGS, type RawSettings, type SettingKey } from './env.ts'

const count = (least: number, most: number) => {
  const error = `must be a whole number from ${least} to ${most}`
  return z.coerce.number(error).int(error).min(least, error).max(most, error)
}
const port = count(1, 65_531)
const oneOf = <const Words extends readonly string[]>(words: Words) =>
  z.enum(words, `must be ${words.join(', ').replace(/, (?=[^,]*$)/, ' or ')}`)
const onOff = z.stringbool('must be on or off')
const whole = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a whole number')
  .transform(BigInt)
/** A part of X-Routed-To. */
export const WORD = /^[a-z0-9][a-z0-9._-]{0,62}$/i
export const WORD_IN_WORDS = 'letters, digits, dots and dashes'
const word = z.string().regex(WORD, `must be ${WORD_IN_WORDS}`)

const secret = z.string().transform((text) => new Secret(text))
const isPlugUrl = (text: string) =>
  /^(shelly|tasmota|redfish)\+https?:\/\//.test(text) && URL.canParse(text)

const areNetworks = (texts: readonly string[]) =>
  texts.every((text) => parseSubnet(text) !== undefined)

const schema = z.object({
  data: z.string().default('.ergon'),
  port: port.optional(),
  pgPort: port.optional(),
  host: z.string().default('127.0.0.1'),
  baseUrl: z.url({ protocol: /^https?$/ }).optional(),
  trustedProxies: z
    .string()
    .transform((text) => text.split(',').map((network) => network.trim()))
    .refine(areNetworks, 'must be addresses and networks by comma, such as 127.0.0.1,10.0.0.0/8')
    .default([]),
  json: onOff.default(false),
  logLevel: oneOf(['debug', 'info', 'warn', 'error']).default('warn'),
  databaseUrl: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
  pgBin: z.string().optional(),
  pgUpgrade: onOff.default(false),
  artifacts: z.string().optional(),
  models: z.string().default('default'),
  gpu: oneOf(['off', 'auto', 'cuda', 'vulkan']).default('off'),
  gateways: count(1, 64).default(1),
  isolation: oneOf(['root', 'userns', 'plain']).optional(),
  operator: word.default('ergon'),
  region: word.default('local'),
  carbonZone: z
    .string()
    .regex(/^[A-Z]{2,5}(-[A-Z0-9]{1,5}){0,3}$/, 'must be a zone such as DE')
    .default('WORLD'),
  carbonSource: oneOf(['uk', 'electricity-maps']).optional(),
  carbonToken: secret.optional(),
  wattTimeLogin: z
    .string()
    .regex(/^[^:]+:./, 'must be <user>:<password>')
    .transform((text) => new Secret(text))
    .optional(),
  wattTimeRegion: z
    .string()
    .regex(/^[A-Z0-9_]{2,40}$/, 'must be a region such as CAISO_NORTH')
    .optional(),
  // A building takes at least what its machines take.
  pueMilli: whole.refine((milli) => milli >= 1000n, 'must be 1000 or more').default(1000n),
  // A secret: a power meter's address may bear its password.
  plugUrl: z
    .string()
    .refine(isPlugUrl, 'must be shelly+, tasmota+ or redfish+ before http(s)://…')
    .transform((text) => new Secret(text))
    .optional(),
  // No data sheet was given: wider than any that we know of.
  plugBandPct: count(1, 100).default(10),
  sensorIdleMilliwatts: whole.optional(),
  sysfsRoot: z.string().default('/sys'),
  // Holds are made in money: at no price nothing could be held.
  pricePusdPerJ: whole.refine((pusd) => pusd > 0n, 'must be above 0').default(69_444n),
  freeTierJ: whole.default(50_000n),
  metricsToken: z
    .string()
    .min(16, 'must have 16 characters or more')
    .transform((text) => new Secret(text))
    .optional(),
  // One body of the largest size must fit.
  bodyMemoryMib: count(8, 1_048_576).default(256),
  windowsDays: count(0, 36_500).default(400),
  storageDayS: count(1, 86_400).default(86_400),
  storageMilliwattsPerTb: count(0, 1_000_000_000_000).default(1200),
  storageMinuteS: count(1, 60).default(60),
  storageKmsKeys: z
    .string()
    .regex(/^[\w.-]{1,64}(,[\w.-]{1,64})*$/, 'must be names by comma')
    .transform((text) => text.split(','))
    .default([]),
  storageBuckets: count(1, 1_000_000).default(1000),
  storageAcls: onOff.default(false),
  storageEncryption: onOff.default(false),
  storageWebsiteHost: z
    .string()
    .regex(/^[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*$/, 'must be a host name in lower case')
    .optional(),
  storageBlobs: z
    .string()
    .refine((text) => text === 'fs' || S3_ADDRESS.test(text), {
      message: 'must be fs, or s3://bucket/prefix without a slash at its end',
    })
    .default('fs'),
  storageS3Endpoint: s3Endpoint.optional(),
  storageS3Region: s3Region.default('us-east-1'),
  storageS3Key: s3Key.optional(),
  storageS3Stores: s3Stores.default([]),
  accountRequests: count(1, 10_000).default(256),
  ballastMib: count(0, 1_048_576).default(256),
  journalSync: oneOf(['group', 'sync']).default('group'),
})

export type Config = z.infer<typeof schema>

/** What is wrong with settings whose words only folders above this one know, by their key. */
export type WordFaults = (raw: RawSettings) => { readonly [K in SettingKey]?: string }

/**
 * The configuration of environment and flags; flags win. Throws `settings_invalid` naming every
 * setting that is wrong.
 */
export function readConfig(
  environment: RawSettings,
  argv: readonly string[],
  wordFaults: WordFaults = () => ({}),
): Config {
  const { flags, faults } = parseFlags(argv)
  const raw = { ...environment, ...flags }
  const parsed = schema.safeParse(raw)
  const wrong = new Set<SettingKey>()
  const blame = (key: SettingKey, what: string) => {
    wrong.add(key)
    faults.push(`${SETTINGS[key].name} (--${SETTINGS[key].flag}): ${what}`)
  }
  if (!parsed.success)
    for (const { path, message } of parsed.error.issues) {
      const [key, ...place] = path
      blame(key as SettingKey, place.length === 0 ? message : `${place.join('.')} ${message}`)
    }
  for (const [key, what] of Object.entries(wordFaults(raw)) as [SettingKey, string][])
    if (!wrong.has(key)) blame(key, what)
  if (parsed.success) faults.push(...faultsTogether(parsed.data))
  if (!parsed.success || faults.length > 0)
    throw fault('settings_invalid', `Could not use the settings:\n  ${faults.join('\n  ')}`)
  return { ...parsed.data, data: resolve(parsed.data.data) }
}

/** What is wrong with settings that are right each by itself. */
function faultsTogether(config: Config): string[] {
  const faults: string[] = []
  if (!isLoopback(config.host) && !isSafe(config.baseUrl))
    faults.push(
      'ERGON_HOST (--host): plain HTTP is for loopback only; put a TLS proxy in front and set ERGON_BASE_URL to its https address',
    )
  if (config.carbonSource === 'uk' && config.carbonZone !== 'GB')
    faults.push('ERGON_CARBON_SOURCE (--carbon-source): uk knows the zone GB only')
  if (config.carbonSource === 'electricity-maps' && config.carbonToken === undefined)
    faults.push('ERGON_CARBON_SOURCE (--carbon-source): electricity-maps needs ERGON_CARBON_TOKEN')
  if (config.gpu !== 'off' && config.plugUrl === undefined)
    faults.push('ERGON_GPU (--gpu): needs ERGON_PLUG_URL: nothing else sees what a GPU draws')
  if ((config.wattTimeLogin === undefined) !== (config.wattTimeRegion === undefined))
    faults.push(
      'ERGON_WATTTIME_LOGIN (--watttime-login-file): it and ERGON_WATTTIME_REGION need each other',
    )
  const { storageBlobs, storageS3Key, storageS3Stores } = config
  const isKeyed = storageS3Key ?? storageS3Stores.find(({ store }) => store === storageBlobs)
  if (storageBlobs !== 'fs' && isKeyed === undefined)
    faults.push(
      'ERGON_STORAGE_BLOBS (--storage-blobs): an S3 store needs ERGON_STORAGE_S3_KEY, or a line of ERGON_STORAGE_S3_STORES',
    )
  return faults
}

/** Whether an address reaches this machine only. */
export const isLoopback = (host: string): boolean => /^(127(\.\d+){3}|::1|localhost)$/.test(host)

/** Whether tokens sent to an address cannot be read on the way. */
function isSafe(baseUrl: string | undefined): boolean {
  if (baseUrl === undefined) return false
  const { protocol, hostname } = new URL(baseUrl)
  return protocol === 'https:' || isLoopback(hostname.replace(/^\[|\]$/g, ''))
}

function parseFlags(argv: readonly string[]): { flags: RawSettings; faults: string[] } {
  const flags: { [K in SettingKey]?: string } = {}
  const faults: string[] = []
  const byFlag = new Map(
    Object.entries(SETTINGS).map(([key, setting]) => [setting.flag as string, key as SettingKey]),
  )
  for (let i = 0; i < argv.length; i++) {
    const [name = '', inline] = (argv[i] ?? '').split(/=(.*)/s)
    const key = name.startsWith('--') ? byFlag.get(name.slice(2)) : undefined
    if (key === undefined) {
      faults.push(unknownFlag(name, [...byFlag.keys()]))
      // Its value is no second fault.
      const isValued = name.startsWith('--') && inline === undefined
      if (isValued && argv[i + 1]?.startsWith('-') === false) i++
    } else if (key === 'json') {
      flags[key] = inline ?? 'true'
    } else {
      const value = inline ?? argv[++i]
      const fault = value === undefined ? `${name}: a value must follow` : wrongInFlag(key, value)
      if (fault !== undefined) faults.push(fault)
      else if (value !== undefined) take(flags, key, value, faults)
    }
  }
  return { flags, faults }
}

function unknownFlag(name: string, flags: readonly string[]): string {
  const near = name.startsWith('--') ? nearest(name.slice(2), flags) : undefined
  const hint = near === undefined ? '' : ` did you mean --${near}?`
  return `${name}: no such flag;${hint} npm start -- --help names all`
}

/** A flag's value; that of a secret is in the file that the flag names. */
function take(
  flags: { [K in SettingKey]?: string },
  key: SettingKey,
  value: string,
  faults: string[],
): void {
  try {
    flags[key] = isSecret(key) ? readSecretFile(value) : value
  } catch (error) {
    faults.push(`--${SETTINGS[key].flag}: ${messageOf(error)}`)
  }
}

/** What may not be on a command line, where every user of the machine can read it. */
function wrongInFlag(key: SettingKey, value: string): string | undefined {
  const hasPassword = URL.canParse(value) && new URL(value).password !== ''
  if (!hasPassword) return undefined
  const { name, flag } = SETTINGS[key]
  return `--${flag}: its password can be read by every user of this machine; set ${name} instead`
}
