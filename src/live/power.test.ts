import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nj } from '#base/units.ts'
import { cellsIn, createPowerMeter, resourcePower } from './power.ts'
import { NO_SUMS, type NewCharges } from './read-accounts.ts'

const ACCOUNT = 'acct_a'
const accounts = new Set([ACCOUNT])
const at = (monotonicMs: number) => ({ monotonicMs })

const spendOf = (receiptId: string, account: string) => {
  const spend = {
    receiptId,
    operation: 'chat.create',
    payer: { account, env: 'test', funded: true },
    usedNj: 0n as bigint,
    measured: () => nj(spend.usedNj),
  } as const
  return spend as { -readonly [Key in keyof typeof spend]: (typeof spend)[Key] } & {
    usedNj: bigint
  }
}

const chargeOf = (
  operation: string,
  unreportedNj: bigint,
  reported: string[] = [],
): NewCharges => ({
  account: ACCOUNT,
  operation,
  day: '2026-01-01',
  sums: NO_SUMS,
  unreportedNj,
  reported,
})

test('each joule of a request counts once: while it runs, and the rest when it is charged', () => {
  const spend = spendOf('rcpt_1', ACCOUNT)
  const other = spendOf('rcpt_2', 'acct_b')
  const running = [spend, other]
  const meter = createPowerMeter({ spends: running })
  let seconds = 100
  const read = (charged: readonly NewCharges[] = []) =>
    meter.read({ accounts, charged, cells: [], ...at(++seconds * 1000) })
  read()
  let microjoules = 0
  const count = (power: ReturnType<typeof read>) => {
    assert.deepEqual(
      [...power.keys()].filter((account) => account !== ACCOUNT),
      [],
    )
    microjoules += power.get(ACCOUNT)?.get('inference') ?? 0
  }
  for (const usedNj of [1_000_000n, 4_000_000n, 9_000_000n]) {
    spend.usedNj = usedNj
    other.usedNj = usedNj
    count(read())
  }
  assert.equal(meter.reported.get('rcpt_1'), 9_000_000n)
  running.length = 0
  count(read())
  const billedNj = 9_500_000n
  count(read([chargeOf('chat.create', billedNj - 9_000_000n, ['rcpt_1'])]))
  assert.equal(microjoules, Number(billedNj) / 1000)
  assert.equal(meter.reported.size, 0)
})

test('power is by the monotonic time of its readings', () => {
  const spend = spendOf('rcpt_1', ACCOUNT)
  const meter = createPowerMeter({ spends: [spend] })
  const read = (monotonicMs: number) =>
    meter.read({ accounts, charged: [], cells: [], monotonicMs })
  read(1000)
  spend.usedNj = 2_000_000n
  assert.deepEqual(read(2000).get(ACCOUNT), new Map([['inference', 2000]]))
})

test('stored bytes are no power of a second, and requests without a charge are forgotten', () => {
  const spend = spendOf('rcpt_1', ACCOUNT)
  const running = [spend]
  const meter = createPowerMeter({ spends: running })
  const charged = [chargeOf('storage.standing', 5n)]
  spend.usedNj = 7n
  const power = meter.read({ accounts, charged, cells: [], ...at(1000) })
  assert.deepEqual(
    [...power.keys()],
    [],
    'the first reading of an account is where the next begins',
  )
  running.length = 0
  meter.read({ accounts, charged: [], cells: [], ...at(30_000) })
  assert.equal(meter.reported.size, 1)
  meter.read({ accounts, charged: [], cells: [], ...at(62_000) })
  assert.equal(meter.reported.size, 0)
})

test('cells of an account have their shares of the last window, unless it is old', () => {
  const meter = createPowerMeter({ spends: [] })
  const share = { name: 'db-x', cpu_ns: '1', dynamic_nj: '20000000', idle_nj: '1000000' }
  const window = Buffer.from(
    JSON.stringify({
      k: '1000',
      elapsed_ns: '2000000000',
      shares: [
        { ...share, payer: 'account', account: ACCOUNT },
        { ...share, name: 'fn-x-1', payer: 'account', account: ACCOUNT },
        { ...share, name: 'fn-x-2', payer: 'account', account: ACCOUNT },
        { ...share, name: 'wl-x-1-1', payer: 'account', account: ACCOUNT },
        { ...share, name: 'wl-x-1-2', payer: 'account', account: ACCOUNT },
        { ...share, name: 'wl-x-2-pull', payer: 'account', account: ACCOUNT },
        { ...share, payer: 'account', account: 'acct_b' },
        { ...share, payer: 'operator' },
      ],
    }),
  )
  const read = (nowMs: number) =>
    meter.read({ accounts, charged: [], cells: cellsIn(window, nowMs), ...at(nowMs) })
  // 21 mJ in 2 s.
  const used = new Map([
    ['databases', 10_500],
    ['functions', 21_000],
    ['workloads', 31_500],
  ])
  assert.deepEqual(read(1_001_000).get(ACCOUNT), used)
  assert.equal(read(1_006_000).size, 0)
  // Versions of a function are one resource, as are the instances and the pull of a workload.
  const resources = new Map([
    ['db_x', 10_500],
    ['fn_x', 21_000],
    ['wl_x', 31_500],
  ])
  assert.deepEqual(resourcePower(cellsIn(window, 1_001_000), ACCOUNT), resources)
  assert.equal(resourcePower(cellsIn(window, 1_006_000), ACCOUNT).size, 0)
})
