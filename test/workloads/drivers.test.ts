// Each driver passes the contract.
import { driverContract } from './driver-contract.ts'
import { noEngine, startPodman } from './podman.ts'

driverContract({ name: 'local', skip: process.getuid?.() !== 0 && 'needs root' })
driverContract({ name: 'docker', skip: noEngine, engine: startPodman })
