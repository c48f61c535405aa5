// The settings of the node itself: where it keeps its data, how it answers, what it charges.
import { z } from 'zod'
import { Secret } from '#base/log.ts'
import { parseSubnet } from '#base/subnets.ts'
import { count, oneOfWords, onOff, whole, word, port } from '#config/checks.ts'
import { DATA_PLACE } from '#config/data-place.ts'
import type { Settings } from '#config/setting.ts'

const areNetworks = (texts: readonly string[]) =>
  texts.every((text) => parseSubnet(text) !== undefined)

export const CORE_SETTINGS = {
  data: {
    name: DATA_PLACE.name,
    flag: DATA_PLACE.flag,
    help: 'Data folder (default ./.ergon)',
    check: z.string().default(DATA_PLACE.default),
  },
  port: {
    name: 'ERGON_PORT',
    flag: 'port',
    help: 'API port; the next four are for portal, ingress, mesh and the status page',
    check: port.optional(),
  },
  pgPort: {
    name: 'ERGON_PG_PORT',
    flag: 'pg-port',
    help: 'Port kept for the database endpoint',
    check: port.optional(),
  },
  host: {
    name: 'ERGON_HOST',
    flag: 'host',
    help: 'Address to listen on (default 127.0.0.1)',
    check: z.string().default('127.0.0.1'),
  },
  baseUrl: {
    name: 'ERGON_BASE_URL',
    flag: 'base-url',
    help: 'Public address of the API, when a proxy is in front',
    check: z.url({ protocol: /^https?$/ }).optional(),
  },
  trustedProxies: {
    name: 'ERGON_TRUSTED_PROXIES',
    flag: 'trusted-proxies',
    help: 'Addresses and networks of proxies in front, by comma: their X-Forwarded-For and X-Forwarded-Proto say who asked (default: nobody is believed)',
    check: z
      .string()
      .transform((text) => text.split(',').map((network) => network.trim()))
      .refine(areNetworks, 'must be addresses and networks by comma, such as 127.0.0.1,10.0.0.0/8')
      .default([]),
  },
  json: {
    name: 'ERGON_JSON',
    flag: 'json',
    help: 'Print the ready line as one JSON object',
    check: onOff.default(false),
  },
  logLevel: {
    name: 'ERGON_LOG_LEVEL',
    flag: 'log-level',
    help: 'debug, info, warn or error (default warn)',
    check: oneOfWords(['debug', 'info', 'warn', 'error']).default('warn'),
  },
  databaseUrl: {
    name: 'DATABASE_URL',
    flag: 'database-url',
    help: 'An external PostgreSQL 16 for our own state',
    check: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
  },
  pgBin: {
    name: 'ERGON_PG_BIN',
    flag: 'pg-bin',
    help: 'Folder of your own PostgreSQL 16 programs',
    check: z.string().optional(),
  },
  pgUpgrade: {
    name: 'ERGON_PG_UPGRADE',
    flag: 'pg-upgrade',
    help: 'Choose PostgreSQL anew at this start: another ERGON_PG_BIN, a newer 16, the extension vector',
    check: onOff.default(false),
  },
  artifacts: {
    name: 'ERGON_ARTIFACTS',
    flag: 'artifacts',
    help: 'Folder with packages, for machines without a network',
    check: z.string().optional(),
  },
  gateways: {
    name: 'ERGON_GATEWAYS',
    flag: 'gateways',
    help: 'Number of gateway processes (default 1)',
    check: count(1, 64).default(1),
  },
  isolation: {
    name: 'ERGON_ISOLATION',
    flag: 'isolation',
    help: 'root, userns or plain (default: what the machine allows)',
    check: oneOfWords(['root', 'userns', 'plain']).optional(),
  },
  operator: {
    name: 'ERGON_OPERATOR',
    flag: 'operator',
    help: 'Operator name in X-Routed-To (default ergon)',
    check: word.default('ergon'),
  },
  region: {
    name: 'ERGON_REGION',
    flag: 'region',
    help: 'Region name in X-Routed-To (default local)',
    check: word.default('local'),
  },
  // Holds are made in money: at no price nothing could be held.
  pricePusdPerJ: {
    name: 'ERGON_PRICE_PUSD_PER_J',
    flag: 'price-pusd-per-j',
    help: 'Price in pico-dollars per joule (default 69444)',
    check: whole.refine((pusd) => pusd > 0n, 'must be above 0').default(69_444n),
  },
  freeTierJ: {
    name: 'ERGON_FREE_TIER_J',
    flag: 'free-tier-j',
    help: 'Free joules a day for accounts without funds (default 50000)',
    check: whole.default(50_000n),
  },
  metricsToken: {
    name: 'ERGON_METRICS_TOKEN',
    flag: 'metrics-token-file',
    isSecret: true,
    help: 'Serve /metrics over TCP to this bearer token',
    check: z
      .string()
      .min(16, 'must have 16 characters or more')
      .transform((text) => new Secret(text))
      .optional(),
  },
  // One body of the largest size must fit.
  bodyMemoryMib: {
    name: 'ERGON_BODY_MEMORY_MIB',
    flag: 'body-memory-mib',
    help: 'MiB that request bodies may hold in memory at once, in each gateway (default 256)',
    check: count(8, 1_048_576).default(256),
  },
  accountRequests: {
    name: 'ERGON_ACCOUNT_REQUESTS',
    flag: 'account-requests',
    help: 'Requests of one account that may run at once, in each gateway (default 256)',
    check: count(1, 10_000).default(256),
  },
  accountRate: {
    name: 'ERGON_ACCOUNT_RATE',
    flag: 'account-rate',
    help: 'Requests that one account may send in a minute, to each gateway (default 60000)',
    check: count(1, 10_000_000).default(60_000),
  },
  ballastMib: {
    name: 'ERGON_BALLAST_MIB',
    flag: 'ballast-mib',
    help: 'MiB of disk kept for journals and state when others fill it; at most a fifteenth of the disk; 0 for none (default 256)',
    check: count(0, 1_048_576).default(256),
  },
  journalSync: {
    name: 'ERGON_JOURNAL',
    flag: 'journal',
    help: '"sync": replies wait for the disk (default "group")',
    check: oneOfWords(['group', 'sync']).default('group'),
  },
} satisfies Settings
