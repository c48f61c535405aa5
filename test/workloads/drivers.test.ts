// Each driver passes the contract, that of engines on Docker and on Podman.
import { noDockerd, startDockerd } from './dockerd.ts'
import { driverContract } from './driver-contract.ts'
import { noEngine, startPodman } from './podman.ts'

driverContract({ name: 'local', skip: process.getuid?.() !== 0 && 'needs root' })
driverContract({ name: 'docker', on: 'podman', skip: noEngine, engine: startPodman })
driverContract({ name: 'docker', on: 'docker', skip: noDockerd, engine: startDockerd })
