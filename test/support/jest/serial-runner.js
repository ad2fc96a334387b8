import TestRunner from 'jest-runner';

/** Runs one file at a time, whatever the number of workers. */
export default class SerialRunner extends TestRunner {
  isSerial = true;
}
