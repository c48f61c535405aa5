// Puts the test token on a chain of anvil, gives the payer $1,000 of it, and prints the setting of Ergon that takes it:
//   node_modules/.bin/node examples/stablecoins/deploy.ts > stablecoins.json
import { chainUrl, PAYER, RECEIVER, walletOf } from './chain.ts'
import { compileDollar } from './dollar.ts'

const UNITS = 1_000_000_000n

const { abi, bytecode } = compileDollar()
const operator = walletOf(0)
const made = await operator.deployContract({ abi, bytecode })
const { contractAddress: token } = await operator.waitForTransactionReceipt({ hash: made })
if (!token) throw new TypeError('The chain made no contract')
const to = walletOf(PAYER).account.address
const minted = await operator.writeContract({
  address: token,
  abi,
  functionName: 'mint',
  args: [to, UNITS],
})
await operator.waitForTransactionReceipt({ hash: minted })
const setting = {
  network: `eip155:${operator.chain.id}`,
  token,
  decimals: 6,
  name: 'Test Dollar',
  version: '2',
  receiver: walletOf(RECEIVER).account.address,
  confirmations: 3,
  nodes: [chainUrl],
}
console.log(JSON.stringify([setting], null, 2))
