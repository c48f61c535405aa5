// The payer's wallet on the test chain: sends the tokens that an offer asks for, and signs the text of a claim.
//   … wallet.ts transfer "$(ergon topup 20 --stablecoin --json)"    prints the transaction
//   … wallet.ts sign "$TEXT"                                        prints the signature
import { erc20Abi, type Address } from 'viem'
import { PAYER, walletOf } from './chain.ts'

const [, , command, text = ''] = process.argv
const wallet = walletOf(PAYER)

if (command === 'transfer') {
  const { token, receiver, units } = JSON.parse(text) as {
    readonly token: Address
    readonly receiver: Address
    readonly units: string
  }
  const transfer = { address: token, abi: erc20Abi, functionName: 'transfer' } as const
  console.log(await wallet.writeContract({ ...transfer, args: [receiver, BigInt(units)] }))
} else if (command === 'sign') console.log(await wallet.signMessage({ message: text }))
else throw new TypeError('Give transfer with an offer, or sign with a text')
