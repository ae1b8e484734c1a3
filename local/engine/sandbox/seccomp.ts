import { addressOf, declare } from './libc.js'

const prctl = declare<[option: number, mode: number, program: Buffer]>('int prctl(int option, ulong mode, void *p)')
const PR_SET_SECCOMP = 22
const SECCOMP_MODE_FILTER = 2

type Calls = { audit: number; socket: number; sendto: number; sendmmsg: number; sendmsg: number; refused: number[] }

/**
 * By architecture: its number in linux/audit.h, and the numbers of calls. Refused are connect; ptrace, process_vm_readv,
 * process_vm_writev and pidfd_getfd, which reach into other processes; and io_uring_setup, whose operations no filter sees.
 */
const ARCHITECTURES: Partial<Record<string, Calls>> = {
  x64: {
    audit: 0xc000_003e,
    socket: 41,
    sendto: 44,
    sendmmsg: 307,
    sendmsg: 46,
    refused: [42, 101, 310, 311, 438, 425],
  },
  arm64: {
    audit: 0xc000_00b7,
    socket: 198,
    sendto: 206,
    sendmmsg: 269,
    sendmsg: 211,
    refused: [203, 117, 270, 271, 438, 425],
  },
}

// Instructions of linux/bpf_common.h; the filter reads the number of the call, the architecture and the arguments.
const LOAD = 0x20
const AND = 0x54
const IF_EQUAL = 0x15
const IF_AT_LEAST = 0x35
const IF_ANY_BIT = 0x45
const RETURN = 0x06
const CALL = 0
const ARCHITECTURE = 4
const argument = (i: number) => 16 + 8 * i

const ALLOW = 0x7fff_0000
const EACCES = 13
const REFUSE = 0x0005_0000 | EACCES

const AF_NETLINK = 16
const NETLINK_ROUTE = 0
const SOCK_TYPES = 0xf
const SOCK_STREAM = 1
/** To send with this flag also connects. */
const MSG_FASTOPEN = 0x2000_0000
/** On x64, calls of the x32 interface, which have numbers of their own, have this bit. */
const X32 = 0x4000_0000

/** A jump names the step that follows if its condition holds; a missing name is the next step. */
type Step = { name?: string; code: number; value: number; yes?: string; no?: string }

const steps = ({ audit, socket, sendto, sendmmsg, sendmsg, refused }: Calls): Step[] => [
  { code: LOAD, value: ARCHITECTURE },
  { code: IF_EQUAL, value: audit, no: 'refuse' },
  { code: LOAD, value: CALL },
  { code: IF_AT_LEAST, value: X32, yes: 'refuse' },
  ...refused.map((call) => ({ code: IF_EQUAL, value: call, yes: 'refuse' })),
  { code: IF_EQUAL, value: sendto, yes: 'fourth' },
  { code: IF_EQUAL, value: sendmmsg, yes: 'fourth' },
  { code: IF_EQUAL, value: sendmsg, yes: 'third' },
  { code: IF_EQUAL, value: socket, no: 'allow' },
  // A socket of any other type can send without connecting. Netlink asks the kernel for this machine's own addresses.
  { code: LOAD, value: argument(0) },
  { code: IF_EQUAL, value: AF_NETLINK, yes: 'netlink' },
  { code: LOAD, value: argument(1) },
  { code: AND, value: SOCK_TYPES },
  { code: IF_EQUAL, value: SOCK_STREAM, yes: 'allow', no: 'refuse' },
  { name: 'netlink', code: LOAD, value: argument(2) },
  { code: IF_EQUAL, value: NETLINK_ROUTE, yes: 'allow', no: 'refuse' },
  { name: 'third', code: LOAD, value: argument(2) },
  { code: IF_ANY_BIT, value: MSG_FASTOPEN, yes: 'refuse', no: 'allow' },
  { name: 'fourth', code: LOAD, value: argument(3) },
  { code: IF_ANY_BIT, value: MSG_FASTOPEN, yes: 'refuse', no: 'allow' },
  { name: 'refuse', code: RETURN, value: REFUSE },
  { name: 'allow', code: RETURN, value: ALLOW },
]

/** Eight bytes a step: code, how many steps to skip if the condition holds and if not, value. */
function assemble(program: Step[]): Buffer {
  const bytes = Buffer.alloc(8 * program.length)
  const skip = (from: number, name: string | undefined) =>
    name === undefined ? 0 : program.findIndex((step) => step.name === name) - from - 1
  for (const [i, { code, value, yes, no }] of program.entries()) {
    bytes.writeUInt16LE(code, 8 * i)
    bytes.writeUInt8(skip(i, yes), 8 * i + 2)
    bytes.writeUInt8(skip(i, no), 8 * i + 3)
    bytes.writeUInt32LE(value, 8 * i + 4)
  }
  return bytes
}

/**
 * Restricts this thread, and every program that it runs from now on, to connections that others open to it: it cannot
 * connect, or send to an address. The thread must have given up new privileges. Throws where the kernel has no such filters
 * (they are part of Linux).
 */
export function restrictNetwork(): void {
  const calls = ARCHITECTURES[process.arch]
  if (!calls) throw new Error(`the calls of ${process.arch} are not known`)
  const filter = assemble(steps(calls))
  const program = Buffer.alloc(16)
  program.writeUInt16LE(filter.length / 8, 0)
  program.writeBigUInt64LE(addressOf(filter), 8)
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program)
}
