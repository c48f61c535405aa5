// The commands of payments on a product with the embedded processor.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { before, test } from 'node:test'
import { promisify } from 'node:util'
import { product, sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'
import { CARDS, processorAnswers, until } from './processor.ts'

product(CARDS)

let ergon: Ergon
let token = ''
before(async () => {
  ergon = sharedErgon()
  await processorAnswers(ergon)
  const { id: account } = await ergon.control('account.create', { env: 'test' })
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

const cli = (...words: string[]) =>
  ergon.commands.run({
    words,
    env: {
      PATH: '',
      ERGON_DATA: ergon.dataFolder,
      ERGON_BASE_URL: ergon.baseUrl,
      ERGON_TOKEN: token,
    },
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
