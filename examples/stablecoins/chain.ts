// A chain of anvil on this machine, and its wallets, whose words everybody knows: for tests alone.
import { createWalletClient, http, publicActions } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { anvil } from 'viem/chains'

const WORDS = 'test test test test test test test test test test test junk'
const URL_DEFAULT = 'http://127.0.0.1:8545'

export const chainUrl = process.env['CHAIN_URL'] ?? URL_DEFAULT

/** A wallet by its number, as a client of the chain. */
export const walletOf = (addressIndex: number) =>
  createWalletClient({
    account: mnemonicToAccount(WORDS, { addressIndex }),
    chain: anvil,
    transport: http(chainUrl),
  }).extend(publicActions)

export const PAYER = 1
export const RECEIVER = 9
