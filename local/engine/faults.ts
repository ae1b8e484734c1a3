const faults = ['SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGABRT', 'SIGTRAP'] as const

/**
 * Lets a fault in native code end the process at once, by its signal. The engine's handlers wait for a thread that writes
 * crash reports, which it does not have in this process: the faulting thread would hang for ever, and its query with it.
 * To be called when the engine is loaded. A listener that comes and goes leaves the system's own handling behind.
 */
export function dieOfFaults(): void {
  const listener = () => undefined
  for (const fault of faults) process.on(fault, listener).off(fault, listener)
}
