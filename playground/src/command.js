// One option of a command line, read and written. The command is text, as somebody would type it.

const pattern = (name) => new RegExp(`(^|\\s)--${name}(?:\\s+|=)(\\S+)`);

/** Returns the value of an option, or null where the command does not name it. */
export function optionOf(command, name) {
  return pattern(name).exec(command)?.[2] ?? null;
}

/** Returns the command with another value of an option; without the option for "". */
export function withOption(command, name, value) {
  const without = command.replace(pattern(name), "").trimEnd();
  return value ? `${without} --${name} ${value}` : without;
}
