#!/usr/bin/env python3
"""cvc5 as a program: reads SMT-LIB from standard input, and answers each command when it is whole."""
import re
import sys

import cvc5

term_manager = cvc5.TermManager()


def start():
    """Returns a solver without assertions, its symbols and its parser."""
    solver = cvc5.Solver(term_manager)
    for argument in sys.argv[1:]:
        if argument.startswith("--tlimit="):
            solver.setOption("tlimit-per", argument.partition("=")[2])
    symbols = cvc5.SymbolManager(term_manager)
    return solver, symbols, cvc5.InputParser(solver, symbols)


def commands():
    """Yields whole commands: those whose parentheses outside of texts, names and comments are closed."""
    text = ""
    for line in iter(sys.stdin.readline, ""):
        text += line
        bare = re.sub(r'"(?:[^"]|"")*"|\|[^|]*\||;[^\n]*', "", text)
        if bare.count("(") <= bare.count(")") and '"' not in bare:
            yield text
            text = ""


solver, symbols, parser = start()
for command_text in commands():
    if command_text.strip() == "(reset)":
        solver, symbols, parser = start()
        continue
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, command_text, "stdin")
    while True:
        command = parser.nextCommand()
        if command.isNull():
            break
        answer = command.invoke(solver, symbols)
        if answer:
            sys.stdout.write(answer)
            sys.stdout.flush()
