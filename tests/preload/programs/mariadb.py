# SPDX-License-Identifier: Apache-2.0
"""MariaDB: sysbench's transactions, then clients that move money between accounts. No row and no money is lost."""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ThreadPoolExecutor

from .trial import Program, Trial, demand, number, version_of

SERVER = shutil.which("mariadbd") or "/usr/sbin/mariadbd"  # this folder is in the PATH of root only
CLIENTS, ROWS, ACCOUNTS, BALANCE = 6, 500, 10, 1000

# Each transaction locks rows in the order of their numbers, so that no deadlock occurs.
MOVES = """
BEGIN NOT ATOMIC
  FOR i IN 1..{moves} DO
    SET @give = FLOOR(RAND() * {accounts}), @take = FLOOR(RAND() * {accounts});
    START TRANSACTION;
    UPDATE bank.account SET balance = balance - 1, moves = moves + 1 WHERE id = LEAST(@give, @take);
    UPDATE bank.account SET balance = balance + 1, moves = moves + 1 WHERE id = GREATEST(@give, @take);
    COMMIT;
  END FOR;
END
"""


def run(trial: Trial) -> str:
    data, socket, log = trial.folder / "data", trial.folder / "socket", trial.folder / "log"
    settings = ["--no-defaults", f"--datadir={data}", f"--socket={socket}"]
    if os.geteuid() == 0:  # the server refuses to run as root
        trial.folder.chmod(0o777)  # so that the server can create its socket
        settings.append("--user=nobody")
    trial.run("mariadb-install-db", *settings, "--innodb-log-file-size=8M", "--skip-test-db")

    def ask(text: str) -> str:
        client = ["mariadb", "--no-defaults", f"--socket={socket}", "--batch", "--skip-column-names", "--delimiter=//"]
        return trial.help_with(*client, "-e", text).strip()

    small = ["--innodb-flush-log-at-trx-commit=0", "--innodb-log-file-size=8M", "--innodb-buffer-pool-size=32M"]
    with trial.server(
        SERVER, *settings, *small, "--skip-networking", "--skip-grant-tables", ready=lambda: ask("SELECT 1") == "1"
    ):
        ask("CREATE DATABASE sbtest // CREATE DATABASE bank")
        load = f"sysbench oltp_read_write --db-driver=mysql --mysql-socket={socket} --tables=2 --table-size={ROWS}"
        trial.run(*load.split(), "prepare")
        output = trial.run(*load.split(), f"--threads={CLIENTS}", f"--time={trial.times(4)}", "run")
        rate = number(r"transactions: +\d+ +\(([\d.]+) per sec", output)
        demand(number(r"reconnects: +(\d+)", output), 0, "reconnects")
        for table in ("sbtest.sbtest1", "sbtest.sbtest2"):  # each transaction deletes a row here and inserts it again
            demand(ask(f"SELECT COUNT(*) FROM {table}"), str(ROWS), f"rows of {table}")
            demand(ask(f"CHECK TABLE {table} EXTENDED").split()[-1], "OK", f"check of {table}")

        moves = trial.times(400)
        ask(
            "CREATE TABLE bank.account (id INT PRIMARY KEY, balance INT, moves INT) ENGINE = InnoDB //"
            f"INSERT INTO bank.account SELECT seq, {BALANCE}, 0 FROM bank.seq_0_to_{ACCOUNTS - 1}"
        )
        with ThreadPoolExecutor(CLIENTS) as clients:
            list(clients.map(ask, [MOVES.format(moves=moves, accounts=ACCOUNTS)] * CLIENTS))
        sums = ask("SELECT SUM(balance), SUM(moves) FROM bank.account").split()
        demand(sums, [str(ACCOUNTS * BALANCE), str(2 * CLIENTS * moves)], "money and moves")
    demand([line for line in log.read_text().splitlines() if "[ERROR]" in line], [], "errors in the server's log")
    return f"{rate:.0f} transactions/s"


PROGRAMS = [
    Program(
        "mariadb",
        "mariadb-server-core mariadb-client-core sysbench",
        (SERVER, "mariadb-install-db", "mariadb", "sysbench"),
        lambda: version_of(SERVER, "--version"),
        run,
    )
]
