// The commands of payments on a product with the embedded processor.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { before, test } from 'node:test'
import { promisify } from 'node:util'
import { product, sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'
import { CARDS, processorAnswers, until } from './processor.ts'

product(CARDS)

let ergon: Ergon
let token = ''
let account = ''
before(async () => {
  ergon = sharedErgon()
  await processorAnswers(ergon)
  ;({ id: account } = await ergon.control('account.create', { env: 'test' }))
  ;({ token } = await ergon.control('token.create', { account, scope: 'billing-admin' }))
})

const run = promisify(execFile)

test('examples/top-up.sh pays, and adds the ledger up to the balance', async () => {
  const { stdout } = await run('examples/top-up.sh', {
    timeout: 60_000,
    env: { ...process.env, ERGON_BASE_URL: ergon.baseUrl, ERGON_TOKEN: token },
  })
  assert.match(stdout, /^paid: pay_/m)
  const sum = Number(/^sum of the ledger: (\d+) pUSD$/m.exec(stdout)?.[1])
  assert.ok(sum > 19e12 && sum <= 20e12, stdout)
  assert.match(stdout, /,topup,20000000000000,/)
})

const cli = (...words: string[]) => cliWith(token, ...words)

const cliWith = (key: string, ...words: string[]) =>
  ergon.commands.run({
    words,
    env: {
      PATH: '',
      ERGON_DATA: ergon.dataFolder,
      ERGON_BASE_URL: ergon.baseUrl,
      ERGON_TOKEN: key,
    },
  })

test('the commands of the guide run with the token that it makes', async () => {
  const guide = readFileSync('docs/guide/money.md', 'utf8')
  const [, block = ''] = /^## Paying in\n\n```sh\n(.*?)```/ms.exec(guide) ?? []
  let key = ergon.token
  let payment = ''
  const ran: string[] = []
  for (const line of block.split('\n')) {
    const [, kept, command = ''] = /^(export ERGON_TOKEN=\$\()?ergon ([^#)]*)/.exec(line) ?? []
    // The command without a token waits for a person; the test of it follows.
    if (command === '' || command.trim() === 'card add') continue
    const words = command.trim().replace('<payment>', payment).split(/\s+/)
    const { stdout, stderr } = await cliWith(key, ...words)
    assert.doesNotMatch(stderr, /the token has scope/, line)
    if (kept !== undefined) key = stdout.trim()
    payment = /pay_\w+/.exec(stderr)?.[0] ?? payment
    ran.push(words[0] ?? '')
  }
  assert.deepEqual([...new Set(ran)], ['admin', 'card', 'topup', 'payments', 'refund', 'balance'])
})

test('a card without a token is given on the page that is printed', async () => {
  let url = ''
  const adding = cli('card', 'add')
  await until(async () => {
    const [made] = await ergon.sql<{ url: string }>(
      `select body ->> 'url' as url from test_processor_objects where kind = 'checkout.session'
         and body -> 'metadata' ->> 'account' = $1`,
      [account],
    )
    url = made?.url ?? ''
    return url !== ''
  })
  await fetch(url, {
    method: 'POST',
    body: new URLSearchParams({ number: '4242424242424242' }),
    redirect: 'manual',
  })
  const { code, stderr } = await adding
  assert.equal(code, 0, stderr)
  assert.ok(stderr.includes(`Give the card to the processor: ${url}\n`), stderr)
  const [, card = ''] = /^added (card_\w+): visa ending in 4242$/m.exec(stderr) ?? []
  assert.match((await cli('card', 'remove', card)).stderr, /removed card_/)
})

test('a card is added, pays, gives back and is removed by the command line', async () => {
  const added = await cli('card', 'add', 'pm_card_visa')
  const card = /card_\w+/.exec(added.stderr)?.[0] ?? added.stderr
  const isActive = new RegExp(`${card}.*active`)
  await until(async () => isActive.test((await cli('card', 'list')).stdout))
  const paid = await cli('topup', '20', '--card', card)
  assert.match(paid.stderr, /20 tUSD are paid \(test money: no funds move\): pay_/)
  const payment = /pay_\w+/.exec(paid.stderr)?.[0] ?? ''
  assert.match((await cli('refund', payment, '--amount', '5.00')).stderr, /5 tUSD go back/)
  await until(async () => /captured +5\b/.test((await cli('payments')).stdout))
  const held = await cli('topup', '--hold')
  assert.match(held.stderr, /5 tUSD are held/)
  assert.match((await cli('topup', '--hold')).stderr, /the account has one/)
  assert.match((await cli('topup')).stderr, /Give an amount, or --hold/)
  const set = ['--low-water', '2.5', '--auto', '20', '--below', '5', '--month-max', '100']
  assert.match(
    (await cli('account', ...set)).stdout,
    /low water +2\.5 tUSD\nautomatic +20 tUSD when it is below 5\n +0 of 100 this month/,
  )
  assert.match((await cli('topup', 'cancel', payment)).stderr, /the payment is captured/)
  assert.match((await cli('account', '--auto', '5')).stderr, /need each other/)
  assert.match((await cli('account', '--auto', 'off')).stdout, /no top-ups/)
  assert.match((await cli('card', 'remove', card)).stderr, /removed card_/)
})
