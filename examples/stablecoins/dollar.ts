// The token of test chains, compiled for an EVM that every chain has.
import { readFileSync } from 'node:fs'
import solc from 'solc'
import type { Abi } from 'viem'

type Compiled = { readonly abi: Abi; readonly bytecode: `0x${string}` }

/** Throws TypeError with the faults of the source. */
export function compileDollar(): Compiled {
  const content = readFileSync(new URL('Dollar.sol', import.meta.url), 'utf8')
  const input = {
    language: 'Solidity',
    sources: { 'Dollar.sol': { content } },
    settings: {
      optimizer: { enabled: true },
      evmVersion: 'paris',
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
    },
  }
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as {
    contracts?: { 'Dollar.sol': { Dollar: { abi: Abi; evm: { bytecode: { object: string } } } } }
  }
  if (output.contracts === undefined) throw new TypeError(JSON.stringify(output))
  const { abi, evm } = output.contracts['Dollar.sol'].Dollar
  return { abi, bytecode: `0x${evm.bytecode.object}` }
}
