// Settings, checked. All faults are reported at once, by the name that was set.
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { z } from 'zod'
import { messageOf } from '#base/errors.ts'
import { hostOfUrl, isLocalName, isLoopback } from '#base/hosts.ts'
import { fault } from '#contract/errors.ts'
import { nearest } from '#base/nearest.ts'
import { isSecret, isSwitch, readSecretFile, type RawSettings } from './env.ts'
import { SETTINGS, type SettingKey } from './settings.ts'

type Checks = { readonly [K in SettingKey]: (typeof SETTINGS)[K]['check'] }

const schema = z.object(
  Object.fromEntries(
    Object.entries(SETTINGS).map(([key, { check }]) => [key, check]),
  ) as unknown as Checks,
)

export type Config = z.infer<typeof schema>

/** Checks of settings whose values only folders above this folder know: the fault of each wrong setting. */
export type WordFaults = (raw: RawSettings) => { readonly [K in SettingKey]?: string }

/**
 * The configuration of environment and flags; flags win. Throws `settings_invalid` naming every
 * setting that is wrong.
 */
export function readSettings(
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

/** Faults of settings that contradict each other. */
function faultsTogether(config: Config): string[] {
  const faults: string[] = []
  if (!isLoopback(config.host) && !isSafe(config.baseUrl))
    faults.push(
      'ERGON_HOST (--host): plain HTTP is for loopback only; put a TLS proxy in front and set ERGON_BASE_URL to its https address',
    )
  if (config.statusUrl !== undefined && !isSafe(config.statusUrl))
    faults.push('ERGON_STATUS_URL (--status-url): plain HTTP is for loopback only')
  if (config.carbonSource === 'uk' && config.carbonZone !== 'GB')
    faults.push('ERGON_CARBON_SOURCE (--carbon-source): uk knows the zone GB only')
  if (config.carbonSource === 'electricity-maps' && config.carbonToken === undefined)
    faults.push('ERGON_CARBON_SOURCE (--carbon-source): electricity-maps needs ERGON_CARBON_TOKEN')
  if ((config.wattTimeLogin === undefined) !== (config.wattTimeRegion === undefined))
    faults.push(
      'ERGON_WATTTIME_LOGIN (--watttime-login-file): it and ERGON_WATTTIME_REGION need each other',
    )
  const { ingressAcme: acme, ingressAcmeEmail: email, ingressTlsPort: tlsPort } = config
  if ((acme === undefined) !== (email === undefined) || (acme && tlsPort === undefined))
    faults.push(
      'ERGON_INGRESS_ACME (--ingress-acme): needs ERGON_INGRESS_ACME_EMAIL and ERGON_INGRESS_TLS_PORT',
    )
  const { storageBlobs, storageS3Key, storageS3Stores } = config
  const isKeyed = storageS3Key ?? storageS3Stores.find(({ store }) => store === storageBlobs)
  if (storageBlobs !== 'fs' && isKeyed === undefined)
    faults.push(
      'ERGON_STORAGE_BLOBS (--storage-blobs): an S3 store needs ERGON_STORAGE_S3_KEY, or a line of ERGON_STORAGE_S3_STORES',
    )
  faults.push(...portalFaults(config), ...paymentFaults(config))
  return faults
}

/** Passkeys are bound to a name, and cookies to a host, whatever its port. */
function portalFaults({ portalUrl, baseUrl }: Config): string[] {
  if (portalUrl === undefined) return []
  const name = 'ERGON_PORTAL_URL (--portal-url)'
  const { protocol, hostname } = new URL(portalUrl)
  const faults: string[] = []
  if (protocol !== 'https:' && !isLocalName(hostname))
    faults.push(`${name}: plain HTTP is for names below localhost only`)
  if (isIP(hostOf(portalUrl)) !== 0) faults.push(`${name}: passkeys need a name, not an address`)
  if (hostname === (baseUrl === undefined ? 'localhost' : new URL(baseUrl).hostname))
    faults.push(`${name}: it needs a host of its own: buckets answer at that of the API`)
  return faults
}

/** Live and test money never meet, and test money never leaves this machine. */
function paymentFaults(config: Config): string[] {
  const { cardKey, cardWebhookSecret, cardUrl, testProcessorPort } = config
  const faults: string[] = []
  if ((cardKey === undefined) !== (cardWebhookSecret === undefined))
    faults.push(
      'ERGON_CARD_KEY (--card-key-file): it and ERGON_CARD_WEBHOOK_SECRET need each other',
    )
  if (!isSafe(cardUrl)) faults.push('ERGON_CARD_URL (--card-url): plain HTTP is for loopback only')
  if (testProcessorPort === undefined) return faults
  const name = 'ERGON_TEST_PROCESSOR_PORT (--test-processor-port)'
  const outside = publicAddresses(config)
  if (outside.length > 0)
    faults.push(`${name}: test money is for loopback only, unlike ${outside.join(', ')}`)
  if (cardKey?.reveal().startsWith('sk_test_') === true)
    faults.push(`${name}: ERGON_CARD_KEY is for test accounts, too`)
  return faults
}

/** The settings by which others than this machine reach the service, or a card processor with live money. */
function publicAddresses(config: Config): string[] {
  const urls = {
    ERGON_BASE_URL: config.baseUrl,
    ERGON_PORTAL_URL: config.portalUrl,
    ERGON_STATUS_URL: config.statusUrl,
    ERGON_FUNCTIONS_URL: config.functionsUrl,
    ERGON_CARD_URL: config.cardKey === undefined ? undefined : config.cardUrl,
  }
  const hosts = Object.entries(urls).flatMap(([name, url]) =>
    url === undefined ? [] : [[name, hostOf(url)] as const],
  )
  const named = [
    ['ERGON_HOST', config.host],
    ['ERGON_DB_HOST', config.dbHost],
    ['ERGON_STORAGE_WEBSITE_HOST', config.storageWebsiteHost],
    ...hosts,
  ] as const
  return named.flatMap(([name, host]) => (host === undefined || isLoopback(host) ? [] : [name]))
}

const hostOf = (url: string): string => hostOfUrl(new URL(url))

/** True when tokens sent to the address cannot be read on the way. */
function isSafe(baseUrl: string | undefined): boolean {
  if (baseUrl === undefined) return false
  return new URL(baseUrl).protocol === 'https:' || isLoopback(hostOf(baseUrl))
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
    } else {
      const next = argv[i + 1]
      const isAlone = isSwitch(key) && (next === undefined || next.startsWith('-'))
      const value = inline ?? (isAlone ? 'on' : argv[++i])
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

/** A fault for a secret on the command line, which every user of the machine can read. */
function wrongInFlag(key: SettingKey, value: string): string | undefined {
  const hasPassword = URL.canParse(value) && new URL(value).password !== ''
  if (!hasPassword) return undefined
  const { name, flag } = SETTINGS[key]
  return `--${flag}: its password can be read by every user of this machine; set ${name} instead`
}
