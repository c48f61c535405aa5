// Description files: the one of the interface, order and needs, pending values, variables, and what each fault says.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { described, stackOf } from './describe-text.fixture.ts'

const SPEC = `workload "api" {
  image         = "registry.example.com/api:1.4.2"
  region        = "auto"
  energy_budget = "250 kJ/day"
}

route "api.example.com" {
  to = workload.api
}
`

test('the file of the interface becomes a workload and a route that needs it', () => {
  const { resources } = stackOf(SPEC)
  const [workload, route] = resources
  assert.equal(resources.length, 2)
  assert.deepEqual(workload?.spec, {
    name: 'api',
    image: 'registry.example.com/api:1.4.2',
    region: 'auto',
    energy_budget: 250_000_000_000_000n,
  })
  assert.deepEqual(
    [route?.address, route?.needs, route?.spec],
    ['route.api.example.com', ['workload.api'], { name: 'api.example.com', to: 'workload.api' }],
  )
})

test('a route leads to a function, after it', () => {
  const { resources } = stackOf(
    'route "api.example.com" {\n to = function.hello\n}\nfunction "hello" {\n file = "f.ts"\n}\n',
  )
  assert.deepEqual(
    resources.map(({ address, needs, spec }) => [address, needs, 'to' in spec && spec.to]),
    [
      ['function.hello', [], false],
      ['route.api.example.com', ['function.hello'], 'function.hello'],
    ],
  )
})

test('resources come after those that they need: by reference, by a local value, by a trigger', () => {
  const { resources } = stackOf(`
function "thumb" {
  file = "thumb.ts"
  on   = "bucket/photos/object-created"
  env  = { DB = local.url }
}
locals {
  url = "\${local.base}?ssl=1"
  base = database.orders.url
}
webhook "w" {
  url    = "https://example.com/hook"
  events = ["bucket/photos/object-created", "workload.deployed"]
}
database "orders" {
}
bucket "photos" {
}
`)
  assert.deepEqual(
    resources.map(({ address, needs }) => [address, needs]),
    [
      ['database.orders', []],
      ['bucket.photos', []],
      ['function.thumb', ['database.orders', 'bucket.photos']],
      ['webhook.w', ['bucket.photos']],
    ],
  )
})

test('an attribute that is not known yet is pending, and known when it is given', () => {
  const text = `
database "orders" {
}
workload "api" {
  image = "a"
  env   = { DB = "\${database.orders.url}?ssl=1", NAME = database.orders.name }
}
output "host" {
  value = [database.orders.host, 1, 12345678901234567890]
}
`
  const [, before] = stackOf(text).resources
  assert.ok(before?.type === 'workload')
  assert.deepEqual(before.spec.env, { DB: { pending: ['database.orders.url'] }, NAME: 'orders' })
  assert.deepEqual(stackOf(text).outputs, [
    {
      name: 'host',
      description: '',
      value: [{ pending: ['database.orders.host'] }, 1, '12345678901234567890'],
    },
  ])
  const known = new Map([['database.orders', new Map([['url', 'postgres://x']])]])
  const [, after] = stackOf(text, { known }).resources
  assert.ok(after?.type === 'workload')
  assert.deepEqual(after.spec.env, { DB: 'postgres://x?ssl=1', NAME: 'orders' })
})

test('variables have a type, a default and a value of the caller; sensitive ones stay hidden', () => {
  const text = `
variable "tag" {
  type = string
}
variable "most" {
  type    = number
  default = 3
}
variable "command" {
  type    = list(string)
  default = ["node"]
}
variable "key" {
  sensitive = true
}
workload "api" {
  image   = "api:\${var.tag}"
  command = var.command
  scale {
    max = var.most
  }
  secret "KEY" {
    value = var.key
  }
}
`
  const given = [
    ['tag', '1.4'],
    ['command', '["a", "b"]'],
    ['key', 's3cret'],
  ] as const
  const specOf = (isRevealed: boolean) => {
    const [only] = stackOf(text, { variables: new Map(given), isRevealed }).resources
    return only?.spec
  }
  assert.deepEqual(specOf(false), {
    name: 'api',
    image: 'api:1.4',
    command: ['a', 'b'],
    scale: { max: 3 },
    secret: [{ name: 'KEY', value: { pending: ['var.key'] } }],
  })
  assert.deepEqual({ ...specOf(true), secret: [] }, { ...specOf(false), secret: [] })
  assert.ok(JSON.stringify(specOf(true)).includes('s3cret'))
  const wrong = described(text, {
    variables: new Map([
      ['tag', 'a'],
      ['most', 'many'],
      ['command', '['],
    ]),
  })
  assert.deepEqual(wrong.faults.slice(0, 2), [
    '5:1: Expected most to be a number, found "many"',
    '9:1: Expected command to be a list of its type, found "["',
  ])
})

/** Body of a workload api with an image, or a whole file where there is a block; and its one fault. */
const FAULTS: readonly (readonly [text: string, fault: string])[] = [
  ['imge = "x"', '3:1: workload api has no attribute imge; did you mean "image"?'],
  [
    'zzzzzz = 1',
    '3:1: workload api has no attribute zzzzzz; there are command, cpu, energy_budget, env, health, image, memory, port, region, scale, scale_to_zero_after, secret, volume',
  ],
  [
    'energy_budget = "5 kcal/day"',
    '3:17: Expected an energy for a day in J, kJ, MJ, Wh or kWh, from 10 J/day, such as "250 kJ/day", found "5 kcal/day"',
  ],
  [
    'energy_budget = 5',
    '3:17: Expected an energy for a day in J, kJ, MJ, Wh or kWh, from 10 J/day, such as "250 kJ/day", found 5',
  ],
  [
    'volume "d" {\n path = "/proc/d"\n size = "1GB"\n}',
    '4:9: Expected an absolute path such as "/data", and not /etc, /tmp, /run, /proc, /sys or /dev, found "/proc/d"',
  ],
  [
    'volume "a" {\npath = "/data"\nsize = "1GB"\n}\nvolume "b" {\npath = "/data/b"\nsize = "1GB"\n}',
    '7:1: Expected a path that is not within that of another volume, nor the other way round',
  ],
  [
    'scale {\nmax = 2\n}\nvolume "a" {\npath = "/data"\nsize = "1GB"\n}',
    '3:1: Expected max to be 1, as a workload with a volume has one instance at most',
  ],
  [
    'volume "a" {\npath = "/data"\nsize = "1GB"\n}\nscale {\nmin = 2\n}',
    '7:1: Expected max to be 1, as a workload with a volume has one instance at most',
  ],
  ['port = 65536', '3:8: Expected a whole number from 1 to 65535, found 65536'],
  [
    'cpu = 0.01',
    '3:7: Expected a number of processors from 0.05 to 64 in steps of 0.001, such as 0.5, found 0.01',
  ],
  [
    'memory = "1 TB"',
    '3:10: Expected a size from 16MB to 256GB in kB, MB, GB, TB, KiB, MiB, GiB or TiB, such as "256MB", found "1 TB"',
  ],
  [
    'scale_to_zero_after = "5 days"',
    '3:23: Expected a duration from 10s to 24h in ms, s, m or h, such as "10s", found "5 days"',
  ],
  [
    'env = { "a b" = 1 }',
    '3:7: Expected an object of texts, whose keys have letters, digits and _ and do not begin with SVC_, such as { LOG = "info" }, found an object',
  ],
  ['env {\n}', '3:1: env of workload api is an attribute; write env = …'],
  ['scale = 3', '3:1: scale of workload api is a block; write scale { … }'],
  ['scale {\nmin = 3\nmax = 2\n}', '3:1: Expected min to be no more than max'],
  ['scale {\n}\nscale {\n}', '5:1: Expected at most 1 scale in workload api, found another'],
  ['helth {\n}', '3:1: workload api has no block helth; did you mean "health"?'],
  ['health {\n}', '3:1: health lacks path: expected a path such as "/healthz"'],
  [
    'secret "A" {\nvalue = "x"\n}\nsecret "A" {\nvalue = "y"\n}',
    '6:1: Expected one secret A in workload api, found another',
  ],
  ['command = []', '3:11: Expected a list of texts, found a list'],
  ['region = [1]', '3:10: Expected a region, or "auto", found a list'],
  ['region = upper(', '4:1: Expected a value, found }'],
  [
    'route "Api.example.com" {\nto = workload.api\n}',
    '4:7: Expected a hostname in lower case, such as api.example.com, found "Api.example.com"',
  ],
  [
    'route "a.example.com" {\nto = "api"\n}',
    '5:6: Expected workload.<name> or function.<name>, found "api"',
  ],
  [
    'route "a.example.com" {\nto = workload.apy\n}',
    '5:6: The file has no workload apy; did you mean "api"?',
  ],
  [
    'route "a.example.com" {\n}',
    '4:1: route a.example.com lacks to: expected workload.<name> or function.<name>',
  ],
  [
    'route "a.example.com" {\nto = bucket.photos\n}\nbucket "photos" {\n}',
    '5:6: Expected workload.<name> or function.<name>, found the bucket photos itself',
  ],
  [
    'route "a.example.com" {\nto = function.helo\n}\nfunction "hello" {\nfile = "f.ts"\n}',
    '5:6: The file has no function helo; did you mean "hello"?',
  ],
  ['workload "api" {\nimage = "b"\n}', '4:10: Expected one workload api, found another'],
  [
    'workload {\nimage = "b"\n}',
    '4:1: Expected a name of a-z, 0-9 and -, which begins with a letter and has at most 31 characters after workload',
  ],
  [
    'workload "a$(id)" {\nimage = "b"\n}',
    '4:10: Expected a name of a-z, 0-9 and -, which begins with a letter and has at most 31 characters, found "a$(id)"',
  ],
  [
    'workload "x" {\nimage = "b;rm -rf"\n}',
    '5:9: Expected a reference to an image, such as "registry.example.com/api:1.4.2", found "b;rm -rf"',
  ],
  ['worklod "x" {\n}', '4:1: There is no block worklod; did you mean "workload"?'],
  [
    'locals {\na = local.b\nb = local.a\n}',
    '5:1: Expected an end of the references, found a cycle: local.a → local.b → local.a',
  ],
  [
    'workload "b" {\nimage = "x"\nenv = { A = workload.b.url }\n}',
    '4:1: Expected an end of the references, found a cycle: workload.b → workload.b',
  ],
  [
    'output "x" {\nvalue = workload["a${1}"].url\n}',
    '5:9: Expected a name after workload; such as workload.<name>',
  ],
  ['output "x" {\nvalue = database.x.url\n}', '5:9: The file has no database x; there are none'],
  [
    'output "x" {\nvalue = workload.api.urll\n}',
    '5:21: There is no urll in workload.api; did you mean "url"?',
  ],
  [
    'function "f" {\nfile = "../etc/passwd"\n}',
    '5:8: Expected a relative path, such as "hello.ts", found "../etc/passwd"',
  ],
  [
    'function "f" {\nfile = "f.ts"\nschedule = "61 * * * *"\n}',
    '6:12: Expected five fields of cron: minute, hour, day, month, day of the week, such as "*/5 * * * *", found "61 * * * *"',
  ],
  [
    'function "f" {\nfile = "f.ts"\non = "bucket/photos/deleted"\n}',
    '6:6: Expected a trigger such as "bucket/photos/object-created", found "bucket/photos/deleted"',
  ],
  [
    'webhook "w" {\nurl = "https://a.example"\nevents = ["workload.exploded"]\n}',
    '6:11: There is no event type "workload.exploded"; did you mean "workload.deployed"?',
  ],
  [
    'webhook "w" {\nurl = "https://a.example"\nevents = ["workload.deployed", "balance.lo"]\n}',
    '6:32: There is no event type "balance.lo"; did you mean "balance.low"?',
  ],
  [
    'database "postgres" {\n}',
    '4:10: Expected the name of a database: a-z, 0-9, - and _, beginning with a letter, and none of PostgreSQL itself, found "postgres"',
  ],
  [
    'bucket "UPPER" {\n}',
    '4:8: Expected a name of 3 to 63 characters of a-z, 0-9, . and -, with a letter or digit at both ends, found "UPPER"',
  ],
  [
    'variable "v" {\ntype = text\ndefault = 1\n}',
    '5:8: Expected a type; there are string, number, bool, any, list(…) and map(…)',
  ],
  ['variable "v" {\n}', '4:1: The variable v has no value; give it by --var v=…'],
  [
    'variable "v" {\ndefault = local.a\n}',
    '5:11: Nothing is named local here; there are none; a text has quotes',
  ],
]

const BLOCK =
  /^(route|workload|worklod|locals|output|function|webhook|database|bucket|variable) ?["{]/
const inFile = (text: string) =>
  BLOCK.test(text)
    ? `workload "api" {\nimage = "a"\n}\n${text}\n`
    : `workload "api" {\nimage = "a"\n${text}\n}\n`

test('each fault has its place, what was expected, and a hint', () => {
  const found = FAULTS.map(([text]) => [text, described(inFile(text)).faults.join('\n')])
  assert.deepEqual(found, FAULTS)
})

test('an attribute of the file, and a local value without a value, are told once', () => {
  assert.deepEqual(described('region = "eu"\n').faults, [
    '1:1: Expected blocks in the file, found the attribute region; values of your own are in a block: locals { region = … }',
  ])
  assert.deepEqual(
    described('locals {\n  a = 1 / 0\n  b = local.a + 1\n}\noutput "c" {\n  value = local.b\n}\n')
      .faults,
    ['2:7: The result of / is a division by zero'],
  )
})

test('thousands of wrong references to thousands of names end soon', () => {
  const names = Array.from({ length: 4000 }, (_, at) => `name_${at} = ${at}\n`).join('')
  const wrong = Array.from({ length: 4000 }, (_, at) => `wrong_${at} = local.nothing_${at}\n`).join(
    '',
  )
  const { faults } = described(`locals {\n${names}${wrong}}\n`)
  assert.equal(faults.length, 50)
  assert.match(
    faults[0] ?? '',
    /^4002:11: The file has no local value nothing_0; there are name_0, .* and others$/,
  )
})

test('a chain of thousands of local values is no danger', () => {
  const chain = Array.from({ length: 6000 }, (_, at) => `a${at + 1} = [local.a${at}]\n`)
  const { faults } = described(`locals {\na0 = 1\n${chain.join('')}}\n`)
  assert.equal(faults.length, 50)
  assert.match(faults[0] ?? '', /Expected at most 100 lists and objects in each other/)
})

test('a function has the runtimes, the memory and the time that functions have', () => {
  const faultsOf = (line: string) =>
    described(`function "hello" {\n  file = "hello.ts"\n  ${line}\n}\n`).faults
  for (const line of [
    'runtime = "node24"',
    'runtime = "python311"',
    'memory = "64MB"',
    'memory = "1GiB"',
    'timeout = "900s"',
  ])
    assert.deepEqual(faultsOf(line), [], line)
  for (const line of [
    'runtime = "python2.7"',
    'memory = "63MB"',
    'memory = "2GiB"',
    'timeout = "16m"',
  ])
    assert.equal(faultsOf(line).length, 1, line)
})

test('a file of too many tokens, or of too many steps, is refused as a whole', () => {
  const terms = (count: number) =>
    described(`output "o" {\n  value = ${Array.from({ length: count }, () => 1).join('+')}\n}\n`)
  assert.deepEqual(terms(24_000).faults, [])
  assert.match(
    terms(125_000).faults.join(),
    /^\d+:\d+: Expected at most 50000 names, values and signs in a file$/,
  )
})
